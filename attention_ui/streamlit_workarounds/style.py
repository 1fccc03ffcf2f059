"""The style of every page. If Streamlit renames an element, only the looks of it change."""

from .sideways import WIDER

SIDEBAR_WIDTH = 264
_TOGGLES = (
    *("predict", "large", "drop_blanks", "causal", "causal_heads", "bias", "positions", "t_scaled"),
)
TOGGLES = f":is({', '.join(f'.st-key-control_{name}' for name in _TOGGLES)})"
"""The controls whose bar is no lower than the widget."""
# Ours, and constant: a person's text is never part of it.
ALONE = """<style>
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], [data-testid="stHeader"] {
  display: none;
}
[data-testid="stMain"] [data-testid="stMainBlockContainer"] { padding: 0.75rem; }
</style>"""
"""Beside `STYLE`, of a picture that stands alone."""
ROOM_OF_SIDEBAR = f"""<style>
@media (min-width: 768px) {{
  [data-testid="stAppViewContainer"]:not(:has([data-testid="stSidebar"])) {{
    padding-left: {SIDEBAR_WIDTH}px;
  }}
}}
</style>"""
"""Until the sidebar is there; else it would push the page aside."""
STYLE = """<style>
/* Streamlit's own width is that of the last visit, or one of two at random. It would glide to
   ours, and lay out the page anew at every frame. */
[data-testid="stSidebar"][data-collapsed="false"] {
  min-width: SIDEBAR_WIDTHpx !important; max-width: SIDEBAR_WIDTHpx !important;
  transition: transform 300ms;
}
div:has(> [data-testid="stSidebarResizeHandle"]) { display: none; }
[data-testid="stMainBlockContainer"] { padding: 2.6rem 2.6rem 0; max-width: none; }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding: 2.6rem 1rem 0; }
  /* Rather broken than wider: a formula at its signs, a table in its cells. Columns of numbers
     cannot be. */
  .stApp .katex-display .katex { font-size: 1.1em; white-space: normal; }
  .stApp [data-testid="stMarkdownContainer"] :is(th, td) {
    padding: 0.3rem 0.4rem; font-size: 0.875rem;
  }
  .stApp [class*="st-key-result_"] .stCode :is(pre, code) { font-size: 0.75rem; }
  /* What goes on of a broken line of a program stands further in. Only here: text that is selected
     in blocks is copied with empty lines between. */
  .stCode code.language-python[style*="pre-wrap"] > span {
    display: block; padding-left: 2ch; text-indent: -2ch;
  }
}
/* A widget whose code has not come yet is a grey bar, lower and narrower than the widget: all that
   is below and beside it would jump. So the bar is as high as the widget, and as wide as its words
   (`about_as_wide`); the widget itself is then just as wide as it is. */
[class*="st-key-control_"]:has(> [data-testid="stSkeleton"]):not(TOGGLES) { min-height: 4.25rem; }
.st-key-control_sentence:has(> [data-testid="stSkeleton"]) { min-height: 6rem; }
.st-key-control_prompt:has(> [data-testid="stSkeleton"]) { min-height: 7.75rem; }
.st-key-contents :has(> [data-testid="stSkeleton"]) { height: 1.375rem; }
.st-key-app_title > :has(> [data-testid="stSkeleton"]) { height: 1.75rem; }
[class*="st-key-beside_"] > .stElementContainer:has(> [data-testid="stSkeleton"]) {
  min-width: 6rem; }
[class*="st-key-show_all_"]:has(> [data-testid="stSkeleton"]) { min-width: 11rem; }
.st-key-quiet > :has(> [data-testid="stSkeleton"]) { height: 1.8rem; }
.st-key-pin:has(> [data-testid="stSkeleton"]) { min-width: 2.7rem; }
:is([class*="st-key-skip_"], [class*="st-key-reveal_"], .st-key-share):has(
    > [data-testid="stSkeleton"]) { min-width: 3.5rem; }
:is([class*="st-key-control_"], [class*="st-key-guess_"], .st-key-as_in) { max-width: 100%; }
:is([class*="st-key-control_"], [class*="st-key-guess_"], .st-key-as_in):has(
    > :is([data-testid="stButtonGroup"], [data-testid="stCheckbox"])) {
  width: fit-content !important; flex: 0 0 fit-content !important;
}
.st-key-reconnect, .st-key-sideways, .st-key-turner { display: none; }
[class*="st-key-chips"] [data-testid="stText"] {
  padding: 0.15rem 0.55rem; border: 1px solid color-mix(in srgb, currentColor 30%, transparent);
  border-radius: 0.4rem;
}
[class*="st-key-problem_of"] [data-testid="stText"], .st-key-notices [data-testid="stText"] {
  font-size: 0.875rem;
}
.st-key-problem_of_beginning { min-height: 2.5rem; } /* as the buttons in whose place it stands */
/* A chain of joined emoji is one character, and no line break fits into it. */
[data-testid="stText"] { max-width: 100%; overflow-wrap: anywhere; overflow-x: clip; }
[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"] * { white-space: normal; }
/* The settings are reached without scrolling on a laptop, below the contents. */
[data-testid="stSidebarHeader"] {
  position: absolute; top: 1.1rem; right: 0; width: auto; height: auto; margin: 0; padding: 0;
}
.st-key-app_title { padding-right: 1.25rem; }
/* A name such as d_model stays in one line, also where letters are large. */
[data-testid="stWidgetLabel"] p { overflow-wrap: normal; word-break: keep-all; }
.st-key-app_title button { min-height: 1.75rem; padding-block: 0; }
[data-testid="stSidebarUserContent"] { padding-top: 0.5rem; }
[class*="st-key-cell_"] .katex-display { margin: 0.4rem 0; }
[class*="st-key-cell_"] [data-testid="stButtonGroup"] button { flex: none; }
.st-key-contents { padding-bottom: 0; }
.st-key-contents details { border: 0; background: transparent; }
.st-key-contents summary {
  padding: 0.15rem 0; min-height: 0; border: 0; background: transparent;
  color: color-mix(in srgb, currentColor 76%, transparent);
}
.st-key-contents summary p { font-size: 0.875rem; line-height: 1.2; }
.st-key-contents [data-testid="stExpanderDetails"] { padding: 0; border: 0; }
.st-key-contents [data-testid="stPageLink-NavLink"] { line-height: 1.25; padding-block: 0.25rem; }
[data-testid="stMarkdownContainer"] table { display: block; max-width: 100%; overflow-x: auto; }
[data-testid="stVegaLiteChart"] { max-width: 100%; overflow-x: auto; }
/* Numbers on cells, in the strongest ink of each theme. */
[data-testid="stVegaLiteChart"] svg text[fill="currentColor"] { fill: light-dark(#000, #fff); }
/* A little can be seen through a tooltip; numbers below it must not be read with its own. Nor does
   it take the pointer: a cell below it could not be pointed at. */
#vg-tooltip-element { backdrop-filter: blur(6px); pointer-events: none; }
/* Streamlit's tools would stand on the words and sliders above a chart. A matrix is no larger on a
   full screen, and the lesson has its numbers as tables; what fills its place keeps that button,
   in its own corner. */
[class*="st-key-chart_"] [data-testid="stElementToolbar"] { display: none; }
.stApp [class*="st-key-fills_"] [data-testid="stElementToolbar"] {
  display: block; top: 0 !important; padding: 0;
}
[class*="st-key-fills_"] [data-testid="stElementToolbarButton"]:not(:last-child) { display: none; }
.katex-display { overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0.25rem 0.2rem 0; }
/* Streamlit's captions and colours of code are too faint for some, as is white on the dark
   theme's blue. */
[data-testid="stCaptionContainer"] {
  opacity: 1; color: color-mix(in srgb, currentColor 76%, transparent);
}
[data-testid^="stBaseButton-primary"] { color: light-dark(#ffffff, #16191d); }
.stApp .stCode .token:is(.keyword, .function, .builtin, .class-name) {
  color: light-dark(#24639e, #8ab6e1);
}
.stApp .stCode .token.string { color: light-dark(#2f6b36, #9ccb8c); }
.stApp .stCode .token:is(.boolean, .number) { color: light-dark(#8a4b12, #e0a878); }
.stApp .stCode .token.comment { color: light-dark(#5b6069, #a7abb5); }
/* What is wider than the page fades at its right end until it is scrolled there. No angle bracket
   may stand in here: Streamlit would drop the whole style. */
@keyframes fade { from { mask-size: 100% 100%; } to { mask-size: calc(100% + 3rem) 100%; } }
@supports (animation-timeline: scroll()) {
  .katex-display, [class*="st-key-result_"] .stCode pre {
    mask: linear-gradient(to right, black calc(100% - 3rem), transparent) no-repeat;
    mask-size: calc(100% + 3rem) 100%;
    animation: fade linear; animation-timeline: scroll(self inline);
  }
}
/* Where the keyboard is: inside, as what is outside would be cut off. */
.stApp :is(WIDER):focus-visible {
  outline: 2px solid light-dark(#24639e, #8ab6e1); outline-offset: -2px; mask: none;
}
</style>"""
for _name, _value in {
    "SIDEBAR_WIDTH": str(SIDEBAR_WIDTH),
    "WIDER": WIDER,
    "TOGGLES": TOGGLES,
}.items():
    STYLE = STYLE.replace(_name, _value)
