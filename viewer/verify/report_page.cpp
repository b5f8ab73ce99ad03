#include "viewer/verify/report_page.h"

#include "viewer/verify/junit.h"

namespace texton::verify {

std::string report_page(const std::string& title, const std::string& body) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
           "'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>" +
           escaped(title) + "</title>\n<style>\n" + kReportStyle + "</style>\n</head>\n<body>\n<main>\n" + body +
           "</main>\n<script>\n" + kReportScript + "</script>\n</body>\n</html>\n";
}

void Figures::add(const std::string& name, const std::string& value) {
    rows_ += "<div><dt>" + name + "</dt><dd>" + value + "</dd></div>\n";
}

std::string Figures::html() const { return rows_.empty() ? "" : "<dl class=\"figures\">\n" + rows_ + "</dl>\n"; }

}  // namespace texton::verify
