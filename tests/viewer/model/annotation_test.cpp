#include <gtest/gtest.h>

#include "viewer/model/annotation.h"

namespace texton::viewer {
namespace {

TEST(AnnotationTest, RulerTextContainsTheLengthAndBothDistances) {
    EXPECT_EQ(length_text({.from = {10, 20}, .to = {13, 24}}), "5 texels (dx 3, dy 4)");
    EXPECT_EQ(length_text({.from = {3, 0.5}, .to = {2, 0.5}}), "1 texel (dx -1, dy 0)");
    EXPECT_EQ(length_text({.from = {0, 0}, .to = {1, 1}}), "1.41 texels (dx 1, dy 1)");
    EXPECT_EQ(length_text({.from = {0.001, 0}, .to = {0, 0}}), "0 texels (dx 0, dy 0)");
}

TEST(AnnotationTest, DescriptionContainsKindPositionsAndText) {
    EXPECT_EQ(annotation_text({.kind = AnnotationKind::arrow, .from = {1, 2}, .to = {3.25, 4}}),
              "Arrow (1, 2) to (3.25, 4)");
    EXPECT_EQ(annotation_text({.kind = AnnotationKind::box, .from = {1, 2}, .to = {3, 4}, .text = "a\nb"}),
              "Box (1, 2) to (3, 4): a b");
    EXPECT_EQ(annotation_text({.kind = AnnotationKind::text, .from = {1, 2}, .to = {3, 4}, .text = "note"}),
              "Text (1, 2): note");
    EXPECT_EQ(annotation_text({.kind = AnnotationKind::ruler, .from = {0, 0}, .to = {0, 2}}),
              "Ruler (0, 0) to (0, 2), 2 texels (dx 0, dy 2)");
}

TEST(AnnotationTest, CharactersAreCodePoints) {
    EXPECT_EQ(character_count(""), 0u);
    EXPECT_EQ(character_count("a\u00e4\u20ac\U0001F600"), 4u);
}

}  // namespace
}  // namespace texton::viewer
