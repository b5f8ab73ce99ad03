#pragma once
#include <unistd.h>

#include <utility>

namespace texton::detail {

/// Owns a file descriptor. -1 is none.
class OwnedDescriptor {
public:
    OwnedDescriptor() = default;
    explicit OwnedDescriptor(int number) noexcept : number_(number) {}
    OwnedDescriptor(OwnedDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~OwnedDescriptor() { reset(); }

    int number() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }
    void reset() noexcept {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

private:
    int number_ = -1;
};

}  // namespace texton::detail
