#!/usr/bin/env python3
"""Checks of a report in a browser: report_browser.py CHECK FOLDER

FOLDER contains the folder report/ and the same report in a single file, report.html. report_browser_test.cpp writes both: the
case 'box' differs in a box, 'frames' in two of its images, and 'gone' has no images. Exit status 0 if the check holds.
"""
import base64
import http.server
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from browser import Browser, program  # noqa: E402

EXPECTED, ACTUAL = [0, 0, 200], [200, 100, 0]  # colors in the middle of the box


def check(holds, *text):
    if not holds:
        raise AssertionError(" ".join(str(each) for each in text))


def corners(page):
    """Returns, for each image that is displayed, its position in its frame and its width."""
    return page.value("""
        [...document.querySelectorAll('.frame')].filter(frame => frame.clientWidth > 0).map(frame => {
            const outer = frame.getBoundingClientRect(), inner = frame.querySelector('img').getBoundingClientRect();
            return [inner.left - outer.left, inner.top - outer.top, inner.width];
        })""")


def middle(page, selector, index=0):
    """Returns the position of the middle of an element in the window."""
    return page.value(f"""(() => {{
        const box = document.querySelectorAll('{selector}')[{index}].getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
    }})()""")


def colors(page, points):
    """Returns the colors at positions of the window, as the browser displays them."""
    url = "data:image/png;base64," + base64.b64encode(page.screenshot()).decode()
    return page.value(f"""(async () => {{
        const image = new Image();
        image.src = '{url}';
        await image.decode();
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return {points}.map(([x, y]) => [...context.getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3));
    }})()""")


def pressed(page):
    return page.value("[...document.querySelectorAll('button[aria-pressed=true]')].filter(each => "
                      "each.offsetParent).map(each => each.textContent)")


def title(page):
    return page.value("[...document.querySelectorAll('h1')].find(each => each.offsetParent).textContent")


def arrive(page, end):
    """Waits until the page at an address with this end is complete."""
    page.wait(f"location.pathname.endsWith('{end}') && document.readyState === 'complete'")


def zoom_and_pan_are_linked(browser, folder):
    page = browser.open(f"file://{folder}/report/box/index.html")
    before = corners(page)
    check(len(before) == 5 and all(each == before[0] for each in before), before)
    x, y = middle(page, ".frame", 1)
    page.mouse("mouseMoved", x, y)
    page.mouse("mouseWheel", x + 20, y + 10, deltaX=0, deltaY=-240, modifiers=2)
    page.wait(f"document.querySelector('.frame img').getBoundingClientRect().width > 1.9 * {before[0][2]}")
    zoomed = corners(page)
    check(all(each == zoomed[0] for each in zoomed), zoomed)
    # The texel under the pointer stays where it is.
    width = page.value("document.querySelector('.frame').getBoundingClientRect().width")
    pointer = width / 2 + 20
    shift = pointer - (pointer - before[0][0]) * zoomed[0][2] / before[0][2]
    check(abs(zoomed[0][0] - shift) <= 1, zoomed[0], shift)
    x, y = middle(page, ".frame", 3)
    page.drag((x, y), (x - 30, y + 20))
    panned = corners(page)
    check(all(each == panned[0] for each in panned), panned)
    check([round(panned[0][i] - zoomed[0][i]) for i in (0, 1)] == [-30, 20], panned[0], zoomed[0])
    # The stage shows the same part.
    center = page.value("viewers.values().next().value.center")
    page.key("2")
    check(page.value("viewers.values().next().value.center") == center, center)
    page.key("0")
    page.key("1")
    check(corners(page) == before, corners(page), before)


def wipe_shows_expected_left_of_the_divider_and_actual_right_of_it(browser, folder):
    page = browser.open(f"file://{folder}/report/box/index.html")
    page.key("2")
    check(pressed(page) == ["Wipe"], pressed(page))
    page.key("a")
    page.key("2")
    x, y = middle(page, ".stage")
    near = [[x - 30, y + 30], [x + 30, y + 30]]
    check(colors(page, near) == [EXPECTED, ACTUAL], colors(page, near))
    start = middle(page, ".divider")
    page.drag(start, (start[0] - 60, start[1]))
    check(colors(page, near) == [ACTUAL, ACTUAL], colors(page, near))
    page.drag((start[0] - 60, start[1]), (start[0] + 60, start[1]))
    check(colors(page, near) == [EXPECTED, EXPECTED], colors(page, near))
    wipe = page.value("viewers.values().next().value.wipe")
    page.key(",")
    check(page.value("viewers.values().next().value.wipe") < wipe, wipe)


def blink_alternates_until_the_space_bar_stops_it(browser, folder):
    page = browser.open(f"file://{folder}/report/box/index.html")
    page.key("3")
    x, y = middle(page, ".stage")
    label = "document.querySelector('.stage .label').textContent"
    for name in ("Actual", "Expected", "Actual"):
        page.wait(f"{label} === '{name}'", 10)
    page.key(" ")
    for _ in range(2):
        name = page.value(label)
        kept = page.value(f"new Promise(done => setTimeout(() => done({label}), 1500))")
        check(kept == name, name, kept)
        color = colors(page, [[x, y + 30]])
        check(color == [EXPECTED if name == "Expected" else ACTUAL], name, color)
        page.key(" ")
        check(page.value(label) != name, name)


def keys_select_images_and_cases_and_are_listed(browser, folder):
    page = browser.open(f"file://{folder}/report/index.html")
    page.key("n")
    arrive(page, "/gone/index.html")
    page.key("n")
    arrive(page, "/box/index.html")
    for key, name in (("e", "Expected"), ("a", "Actual"), ("d", "Difference"), ("u", "Ulp map"), ("f", "FLIP map"),
                      ("1", "Side by side"), ("2", "Wipe"), ("3", "Blink"), ("U", "Ulp map")):
        page.key(key)
        check(pressed(page) == [name], key, pressed(page))
    before = corners(page)
    page.key("+")
    check(abs(corners(page)[0][2] - 2 * before[0][2]) < 1, corners(page), before)
    page.key("-")
    check(corners(page) == before, corners(page), before)
    page.key("+")
    zoomed = corners(page)
    page.key("ArrowRight")
    check(corners(page)[0][0] < zoomed[0][0], corners(page), zoomed)
    page.key("ArrowLeft")
    check(corners(page) == zoomed, corners(page), zoomed)
    page.key("w")
    worst = page.value("document.querySelector('button[data-x]').textContent")
    check(worst in page.value("document.querySelector('.status').textContent"), worst)
    listed = page.value("[...document.querySelectorAll('.keys kbd')].map(each => each.textContent)")
    check(len(listed) == page.value("kKeys.flatMap(([keys]) => keys).length"), listed)
    check({"N", "P", "1", "2", "3", "Space", "E", "A", "D", "U", "F", "W", "+", "0", "\u2190"} <= set(listed), listed)
    page.key("?")
    check(page.value("document.querySelector('.keys').open"))
    page.key("n")
    arrive(page, "/frames/index.html")
    check(set(pressed(page)) == {"Ulp map"}, "the mode is not kept:", pressed(page))
    page.key("j")
    check(page.value("activeViewer().section.querySelector('h2').textContent") == "f/2.png")
    page.key("k")
    check(page.value("activeViewer().section.querySelector('h2').textContent") == "f/1.png")
    page.key("p")
    arrive(page, "/box/index.html")
    page.key("Escape")
    arrive(page, "/report/index.html")


def single_file_shows_one_case_at_a_time(browser, folder):
    page = browser.open(f"file://{folder}/report.html")
    shown = "[...document.querySelectorAll('article')].filter(each => each.offsetParent).map(each => each.id)"
    check(page.value(shown) == ["cases"], page.value(shown))
    for key, article in (("n", "case-gone"), ("n", "case-box"), ("n", "case-frames"), ("p", "case-box")):
        page.key(key)
        page.wait(f"{shown}.join() === '{article}'")
    check(title(page) == "box", title(page))
    page.key("2")
    x, y = middle(page, "#case-box .stage")
    near = [[x - 30, y + 30], [x + 30, y + 30]]
    check(colors(page, near) == [EXPECTED, ACTUAL], colors(page, near))
    page.key("i")
    page.wait(f"{shown}.join() === 'cases'")
    linked = browser.open(f"file://{folder}/report.html#case-frames")
    check(linked.value(shown) == ["case-frames"], linked.value(shown))


def nothing_is_loaded_from_elsewhere(browser, folder):
    requests = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    # Without the policy of the report, the browser reaches the server.
    blank = browser.open("about:blank")
    blank.value(f"fetch('{address}/reached', {{mode: 'no-cors'}}).catch(() => 0).then(() => 0)")
    check(requests == ["/reached"], requests)
    for name in ("report/index.html", "report/box/index.html", "report/frames/index.html", "report.html", "report.html#case-box"):
        page = browser.open(f"file://{folder}/{name}")
        for key in "123 eaduf":
            page.key(key)
        urls = [each["request"]["url"] for each in page.events("Network.requestWillBeSent")]
        check(urls and all(url.startswith(("file:", "data:")) for url in urls), name, [url[:80] for url in urls])
        check(len([url for url in urls if url.startswith("file:")]) == 1, name, "reads other files")
        outside = page.value("[...document.querySelectorAll('[src], [href]')].map(each => each.src || each.href)"
                             ".filter(each => !/^(data|file):/.test(each))")
        check(outside == [], name, outside)
        page.value(f"""Promise.all(['img', 'script', 'iframe'].map(tag => new Promise(done => {{
            const made = document.createElement(tag);
            made.onerror = made.onload = done;
            made.src = '{address}/' + tag;
            document.body.append(made);
            setTimeout(done, 500);
        }})).concat(fetch('{address}/fetch', {{mode: 'no-cors'}}).catch(() => 0))).then(() => 0)""")
        check(requests == ["/reached"], name, requests)
    server.shutdown()


CONTRAST = """
    (() => {
        const parts = text => text.match(/[\\d.]+/g).map(Number);
        const light = ([r, g, b]) => [r, g, b].map(each => each / 255)
            .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
            .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = each => {
            for (; each; each = each.parentElement) {
                const color = parts(getComputedStyle(each).backgroundColor);
                if (color.length < 4 || color[3] > 0) return color;
            }
            return [255, 255, 255];
        };
        return [...document.querySelectorAll('h1, h2, p, a, td, th, dt, dd, button, .badge, figcaption, summary, code')]
            .filter(each => each.offsetParent).map(each => {
                const [a, b] = [light(parts(getComputedStyle(each).color)), light(behind(each))];
                return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), each.outerHTML.slice(0, 80)];
            }).sort((a, b) => a[0] - b[0])[0];
    })()"""


def light_and_dark_schemes_are_readable(browser, folder):
    for name in ("report/index.html", "report/box/index.html", "report/gone/index.html"):
        for dark in (False, True):
            page = browser.open(f"file://{folder}/{name}", dark=dark)
            corner = colors(page, [[3, 997]])[0]
            check(max(corner) < 60 if dark else min(corner) > 200, name, "dark" if dark else "light", corner)
            contrast, where = page.value(CONTRAST)
            check(contrast >= 4.5, name, "dark" if dark else "light", f"contrast {contrast:.2f}:", where)
    page.scheme("light")  # a change of the system's scheme applies at once
    check(min(colors(page, [[3, 997]])[0]) > 200)


def narrow_windows_do_not_scroll_sideways(browser, folder):
    for name in ("report/index.html", "report/box/index.html"):
        page = browser.open(f"file://{folder}/{name}", width=420, height=800)
        for key in "12":
            page.key(key)
            width = page.value("document.documentElement.scrollWidth")
            check(width <= 420, name, key, width)


def main():
    if len(sys.argv) == 2 and sys.argv[1] == "--available":
        return 0 if program() else 1
    name, folder = sys.argv[1:]
    with Browser() as browser:
        globals()[name](browser, folder)
        errors = [each for each in browser.events if each.get("method") == "Runtime.exceptionThrown"]
        check(errors == [], errors)
    return 0


if __name__ == "__main__":
    sys.exit(main())
