// Pages of a report: images with linked zoom and pan, wipe and blink; keys; and the cases of a report in a single file.
//
// A section of class "images" has a figure for each of its images, with the attribute data-kind. All images of a section
// cover the same texels. A Viewer adds the tools and the stage, a frame in which two images lie on top of each other.
'use strict';

const kBlinkMilliseconds = 600;
const kMaxScale = 128;
const kNames = {expected: 'Expected', actual: 'Actual', difference: 'Difference', ulp: 'Ulp map', flip: 'FLIP map',
                varying: 'Varying texels'};
const kLetters = {expected: 'E', actual: 'A', difference: 'D', ulp: 'U', flip: 'F', varying: 'V'};

function element(tag, attributes = {}, children = []) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
}

// The mode of a viewer is kept for the next page.
function keptMode() {
    try { return sessionStorage.getItem('mode'); } catch { return null; }
}
function keepMode(mode) {
    try { sessionStorage.setItem('mode', mode); } catch { /* the browser does not store anything for this page */ }
}

class Viewer {
    constructor(section) {
        this.section = section;
        this.width = Number(section.dataset.width);
        this.height = Number(section.dataset.height);
        this.origin = [Number(section.dataset.left ?? 0), Number(section.dataset.top ?? 0)];
        this.figures = new Map([...section.querySelectorAll('figure')].map(each => [each.dataset.kind, each]));
        this.panes = section.querySelector('.panes');
        this.scale = 1;
        this.center = [this.width / 2, this.height / 2];  // in texels
        this.isFitted = true;
        this.wipe = 0.5;
        this.marked = null;
        for (const image of section.querySelectorAll('figure img')) this.setSize(image);
        this.panes.style.setProperty('--aspect', Math.min(Math.max(this.width / this.height, 0.7), 2));
        this.makeStage();
        this.makeTools();
        for (const frame of section.querySelectorAll('.frame')) this.listen(frame);
        new ResizeObserver(() => this.refresh()).observe(section);
        this.show(keptMode() ?? 'side');
    }

    get hasPair() { return this.figures.has('expected') && this.figures.has('actual'); }
    isOffered(mode) {
        return mode === 'side' || (mode === 'wipe' || mode === 'blink' ? this.hasPair : this.figures.has(mode));
    }

    // An image that is reduced or smaller than the others is displayed with the size of its texels.
    setSize(image) {
        image.style.width = (image.dataset.width ?? this.width) + 'px';
        image.style.height = (image.dataset.height ?? this.height) + 'px';
    }

    makeStage() {
        this.under = element('img', {alt: ''});
        this.top = element('img', {alt: ''});
        this.over = element('div', {className: 'over'}, [this.top]);
        this.divider = element('div', {className: 'divider'});
        this.left = element('span', {className: 'label left'});
        this.right = element('span', {className: 'label right'});
        this.stage = element('div', {className: 'frame stage', hidden: true},
                             [this.under, this.over, this.divider, this.left, this.right]);
        this.panes.after(this.stage);
        const drag = event => {
            const box = this.stage.getBoundingClientRect();
            this.setWipe((event.clientX - box.left) / box.width);
        };
        this.divider.addEventListener('pointerdown', event => {
            event.stopPropagation();
            this.divider.setPointerCapture(event.pointerId);
            this.divider.onpointermove = drag;
        });
        this.divider.addEventListener('lostpointercapture', () => { this.divider.onpointermove = null; });
    }

    makeTools() {
        const button = (text, title, action) => {
            const made = element('button', {type: 'button', textContent: text, title});
            made.addEventListener('click', event => {
                activate(this);
                action();
                if (event.detail > 0) made.blur();  // after a click of the mouse, the space bar swaps images
            });
            return made;
        };
        this.buttons = new Map();
        const modes = [['side', 'Side by side', '1'], ['wipe', 'Wipe', '2'], ['blink', 'Blink', '3'],
                       ...[...this.figures.keys()].map(kind => [kind, kNames[kind], kLetters[kind]])];
        for (const [mode, name, key] of modes)
            if (this.isOffered(mode)) this.buttons.set(mode, button(name, 'Key ' + key, () => this.choose(mode)));
        this.status = element('span', {className: 'status'});
        const tools = element('div', {className: 'tools'}, [
            element('div', {}, [...this.buttons.values()]),
            element('div', {}, [button('Fit', 'Key 0', () => this.fit()), button('1:1', 'Key Z', () => this.zoom(1)),
                                button('\u2212', 'Key \u2212', () => this.zoom(this.scale / 2)),
                                button('+', 'Key +', () => this.zoom(this.scale * 2))]),
            this.status]);
        this.panes.before(tools);
        for (const texel of this.section.querySelectorAll('button[data-x]'))
            texel.addEventListener('click', () => { activate(this); this.goTo(Number(texel.dataset.x), Number(texel.dataset.y)); });
    }

    // --- what is displayed ---

    choose(mode) {
        this.show(mode);
        keepMode(this.mode);
    }

    show(mode) {
        this.mode = this.isOffered(mode) ? mode : 'side';
        for (const [each, button] of this.buttons) button.setAttribute('aria-pressed', each === this.mode);
        this.panes.hidden = this.mode !== 'side';
        this.stage.hidden = this.mode === 'side';
        clearInterval(this.timer);
        if (this.mode !== 'side') {
            const isPair = this.mode === 'wipe' || this.mode === 'blink';
            this.copy(this.under, isPair ? 'actual' : this.mode);
            if (isPair) this.copy(this.top, 'expected');
            this.divider.hidden = this.mode !== 'wipe';
            this.setWipe(this.wipe);
            this.setTop(isPair);
            if (this.mode === 'blink' && !matchMedia('(prefers-reduced-motion: reduce)').matches)
                this.timer = setInterval(() => this.setTop(this.over.hidden), kBlinkMilliseconds);
        }
        this.refresh();
    }

    copy(image, kind) {
        const from = this.figures.get(kind).querySelector('img');
        image.src = from.src;
        Object.assign(image.dataset, from.dataset);
        this.setSize(image);
    }

    // Shows or hides the expected image on top of the actual one.
    setTop(isShown) {
        this.over.hidden = !isShown;
        this.left.textContent = this.mode === 'wipe' || this.mode === 'blink' ? (isShown ? 'Expected' : 'Actual') : kNames[this.mode];
        this.right.hidden = this.mode !== 'wipe' || !isShown;
        this.right.textContent = 'Actual';
    }

    // Swaps the expected and the actual image. Blinking stops, so that each image can be looked at.
    swap() {
        if (!this.hasPair) return;
        if (this.mode !== 'blink') this.choose('blink');
        clearInterval(this.timer);
        this.setTop(this.over.hidden);
    }

    setWipe(part) {
        this.wipe = Math.min(Math.max(part, 0), 1);
        const percent = 100 * this.wipe;
        this.over.style.clipPath = this.mode === 'wipe' ? `inset(0 ${100 - percent}% 0 0)` : '';
        this.divider.style.left = percent + '%';
    }

    // --- zoom and pan ---

    get frames() { return [...this.section.querySelectorAll('.frame')].filter(each => each.clientWidth > 0); }

    fit() {
        this.isFitted = true;
        this.refresh();
    }

    zoom(scale, fixed = this.center) {
        const from = this.scale;
        this.isFitted = false;
        this.scale = Math.min(Math.max(scale, this.fittingScale() / 8), kMaxScale);
        this.center = this.center.map((each, i) => fixed[i] + (each - fixed[i]) * from / this.scale);
        this.refresh();
    }

    pan(x, y) {  // in pixels of the screen
        this.isFitted = false;
        this.center = [this.center[0] - x / this.scale, this.center[1] - y / this.scale];
        this.refresh();
    }

    goTo(x, y) {  // a texel of the whole image
        const [left, top] = [x - this.origin[0], y - this.origin[1]];
        this.isFitted = false;
        this.scale = Math.max(this.scale, 16);
        this.center = [left + 0.5, top + 0.5];
        this.marked = [left, top];
        this.refresh();
        this.section.scrollIntoView({block: 'nearest'});
    }

    fittingScale() {
        const frame = this.frames[0];
        if (!frame) return this.scale;
        const scale = Math.min(frame.clientWidth / this.width, frame.clientHeight / this.height);
        return scale > 1 ? Math.min(Math.floor(scale), kMaxScale) : scale;
    }

    // Places all images and markers. The center is kept within the image.
    refresh() {
        if (this.isFitted) {
            this.scale = this.fittingScale();
            this.center = [this.width / 2, this.height / 2];
        }
        this.center = [Math.min(Math.max(this.center[0], 0), this.width), Math.min(Math.max(this.center[1], 0), this.height)];
        for (const frame of this.frames) {
            const [left, top] = this.cornerIn(frame);
            for (const image of frame.querySelectorAll('img')) {
                image.style.transform = `translate(${left}px, ${top}px) scale(${this.scale})`;
                image.classList.toggle('smooth', this.scale < 1);
            }
            this.placeMarker(frame, left, top);
        }
        this.tell();
    }

    // Returns the position of the corner of the images in a frame.
    cornerIn(frame) {
        return [Math.round(frame.clientWidth / 2 - this.center[0] * this.scale),
                Math.round(frame.clientHeight / 2 - this.center[1] * this.scale)];
    }

    texelAt(frame, event) {
        const box = frame.getBoundingClientRect(), [left, top] = this.cornerIn(frame);
        return [(event.clientX - box.left - frame.clientLeft - left) / this.scale,
                (event.clientY - box.top - frame.clientTop - top) / this.scale];
    }

    placeMarker(frame, left, top) {
        let marker = frame.querySelector('.marker');
        if (!marker) frame.append(marker = element('div', {className: 'marker'}));
        marker.hidden = !this.marked || this.scale < 3;
        if (marker.hidden) return;
        marker.style.left = left + this.marked[0] * this.scale + 'px';
        marker.style.top = top + this.marked[1] * this.scale + 'px';
        marker.style.width = marker.style.height = this.scale + 'px';
    }

    // Writes the scale, and the position and the displayed colors of the marked texel.
    tell() {
        let text = this.scale >= 0.1 ? `${Math.round(100 * this.scale)} %` : `${(100 * this.scale).toFixed(1)} %`;
        if (this.marked) {
            const [x, y] = this.marked;
            text += `   ${x + this.origin[0]}, ${y + this.origin[1]}`;
            for (const kind of ['expected', 'actual'])
                if (this.figures.has(kind)) text += `   ${kind} ${this.colorAt(kind, x, y)}`;
        }
        this.status.textContent = text;
    }

    colorAt(kind, x, y) {
        const image = this.figures.get(kind).querySelector('img');
        const context = Viewer.pixel ??= new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
        const left = x * image.naturalWidth / parseFloat(image.style.width), top = y * image.naturalHeight / parseFloat(image.style.height);
        context.clearRect(0, 0, 1, 1);
        context.drawImage(image, Math.floor(left), Math.floor(top), 1, 1, 0, 0, 1, 1);
        const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
        return alpha === 0 ? '-' : `${red} ${green} ${blue}`;
    }

    listen(frame) {
        frame.addEventListener('pointerdown', event => {
            activate(this);
            frame.setPointerCapture(event.pointerId);
            frame.classList.add('moving');
        });
        frame.addEventListener('lostpointercapture', () => frame.classList.remove('moving'));
        frame.addEventListener('pointermove', event => {
            if (frame.classList.contains('moving')) {
                this.pan(event.movementX, event.movementY);
                return;
            }
            const [x, y] = this.texelAt(frame, event).map(Math.floor);
            this.marked = x >= 0 && y >= 0 && x < this.width && y < this.height ? [x, y] : null;
            this.refresh();
        });
        // Without a click or Ctrl, the wheel scrolls the page.
        frame.addEventListener('wheel', event => {
            if (!event.ctrlKey && active !== this) return;
            event.preventDefault();
            this.zoom(this.scale * 2 ** (-event.deltaY / 240), this.texelAt(frame, event));
        }, {passive: false});
    }
}

// --- cases and keys --------------------------------------------------------------------------------------------------

const viewers = new Map();  // by section
let active = null;          // the viewer that the keys control

function activate(viewer) { active = viewer; }

// Returns the viewers of the case that is displayed.
function shownViewers() { return [...viewers.values()].filter(each => each.section.offsetParent !== null); }

function activeViewer() {
    const shown = shownViewers();
    if (!shown.includes(active)) active = null;
    return active ?? shown.find(each => each.section.getBoundingClientRect().bottom > 80) ?? null;
}

function moveToImage(step) {
    const shown = shownViewers();
    const next = shown[shown.indexOf(activeViewer()) + step];
    if (!next) return;
    activate(next);
    next.section.scrollIntoView();
}

function follow(relation) {
    [...document.querySelectorAll(`a[rel=${relation}]`)].find(each => each.offsetParent !== null)?.click();
}

function worstTexel(viewer, step) {
    const texels = [...viewer.section.querySelectorAll('button[data-x]')];
    if (texels.length === 0) return;
    viewer.worst = ((viewer.worst ?? (step > 0 ? -1 : 0)) + step + texels.length) % texels.length;
    texels[viewer.worst].click();
}

const onViewer = action => () => { const viewer = activeViewer(); if (viewer) action(viewer); };
const kPan = 60;  // pixels
const kKeys = [
    [['n'], 'next failing case', () => follow('next')],
    [['p'], 'previous failing case', () => follow('prev')],
    [['i', 'Escape'], 'list of all cases', () => follow('up')],
    [['j'], 'next image of the case', () => moveToImage(1)],
    [['k'], 'previous image of the case', () => moveToImage(-1)],
    [['1'], 'all images side by side', onViewer(viewer => viewer.choose('side'))],
    [['2'], 'wipe between expected and actual', onViewer(viewer => viewer.choose('wipe'))],
    [['3'], 'blink between expected and actual', onViewer(viewer => viewer.choose('blink'))],
    [[' '], 'stop blinking, and swap expected and actual', onViewer(viewer => viewer.swap())],
    [['e'], 'expected image', onViewer(viewer => viewer.choose('expected'))],
    [['a'], 'actual image', onViewer(viewer => viewer.choose('actual'))],
    [['d'], 'difference', onViewer(viewer => viewer.choose('difference'))],
    [['u'], 'ulp map', onViewer(viewer => viewer.choose('ulp'))],
    [['f'], 'FLIP map', onViewer(viewer => viewer.choose('flip'))],
    [['v'], 'varying texels', onViewer(viewer => viewer.choose('varying'))],
    [['w'], 'next worst texel', onViewer(viewer => worstTexel(viewer, 1))],
    [['W'], 'previous worst texel', onViewer(viewer => worstTexel(viewer, -1))],
    [['+', '='], 'zoom in', onViewer(viewer => viewer.zoom(viewer.scale * 2))],
    [['-'], 'zoom out', onViewer(viewer => viewer.zoom(viewer.scale / 2))],
    [['0'], 'fit the image into its frame', onViewer(viewer => viewer.fit())],
    [['z'], 'one pixel for each texel', onViewer(viewer => viewer.zoom(1))],
    [['ArrowLeft'], 'pan left', onViewer(viewer => viewer.pan(kPan, 0))],
    [['ArrowRight'], 'pan right', onViewer(viewer => viewer.pan(-kPan, 0))],
    [['ArrowUp'], 'pan up', onViewer(viewer => viewer.pan(0, kPan))],
    [['ArrowDown'], 'pan down', onViewer(viewer => viewer.pan(0, -kPan))],
    [[','], 'move the divider of the wipe to the left', onViewer(viewer => viewer.setWipe(viewer.wipe - 0.05))],
    [['.'], 'move the divider of the wipe to the right', onViewer(viewer => viewer.setWipe(viewer.wipe + 0.05))],
    [['?'], 'show or hide this list', () => toggleKeys()],
];
const kKeyNames = {' ': 'Space', Escape: 'Esc', ArrowLeft: '\u2190', ArrowRight: '\u2192', ArrowUp: '\u2191', ArrowDown: '\u2193'};

function toggleKeys() {
    const list = document.querySelector('.keys');
    list.open = !list.open;
    if (list.open) list.scrollIntoView();
}

function listKeys() {
    const nameOf = key => kKeyNames[key] ?? (key === 'W' ? 'Shift+W' : key.toUpperCase());
    const rows = kKeys.map(([keys, text]) => element('li', {}, [
        ...keys.flatMap(key => [element('kbd', {textContent: nameOf(key)}), ' ']), text]));
    const mouse = 'Drag an image to pan. The wheel zooms after a click on an image, or with Ctrl.';
    const list = element('details', {className: 'card keys'}, [
        element('summary', {textContent: 'Keys and mouse'}), element('p', {className: 'faint', textContent: mouse}),
        element('ul', {}, rows)]);
    document.querySelector('main').append(element('div', {className: 'page'}, [list]));
}

document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === ' ' && event.target.closest('button, summary, a')) return;  // presses it
    const found = kKeys.find(([keys]) => keys.includes(event.key)) ?? kKeys.find(([keys]) => keys.includes(event.key.toLowerCase()));
    if (!found || (event.key.startsWith('Arrow') && !activeViewer())) return;
    event.preventDefault();
    found[2]();
});

// Shows the article that the address names, in a report that has several; and creates the viewers of it.
function showArticle() {
    const articles = [...document.querySelectorAll('article')];
    const asked = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest('article') ?? articles[0];
    const isOther = asked.hidden;
    for (const article of articles) article.hidden = article !== asked;
    for (const section of asked.querySelectorAll('.images'))
        if (!viewers.has(section)) viewers.set(section, new Viewer(section));
        else if (isOther) viewers.get(section).show(keptMode() ?? 'side');
    for (const viewer of viewers.values())
        if (!asked.contains(viewer.section)) clearInterval(viewer.timer);
    if (isOther) scrollTo(0, 0);
}

document.documentElement.classList.add('live');
listKeys();
for (const button of document.querySelectorAll('.show-keys')) button.addEventListener('click', toggleKeys);
addEventListener('hashchange', showArticle);
showArticle();
