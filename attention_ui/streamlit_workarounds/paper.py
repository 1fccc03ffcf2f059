"""A page on paper. Streamlit's page is as high as its window and scrolls within it, which prints as
one screen; and a card may lie on two sheets.
"""

WIDE = 940
"""Pixels of a page as it is laid out for paper: as on a laptop, so that pictures are as they are
known; then all is made smaller until it fits between the margins of A4 and of Letter alike."""
_SMALLER = 0.74
_CONTROLS = (
    *("stSidebar", "stHeader", "stExpandSidebarButton", "stElementToolbar", "stTooltipIcon"),
    *("stButton", "stDownloadButton", "stSelectbox", "stMultiSelect", "stSlider", "stSelectSlider"),
    *("stTextInput", "stTextArea", "stNumberInput", "stCheckbox", "stButtonGroup", "stRadio"),
    *("stPageLink", "stPopover", "stSkeleton", "stStatusWidget"),
)
_OURS = ("keys", "moves", "untold", "quiet", "way", "reconnect")
# No angle bracket may stand in it: Streamlit would drop the whole style.
_WITHOUT_CONTROLS = f"""
:is({", ".join(f'[data-testid="{each}"]' for each in _CONTROLS)}),
:is({", ".join(f'[class*="st-key-{each}"]' for each in _OURS)}),
[class*="st-key-ends"] details:not([open]), [class*="st-key-row_"]:not(:has(details[open])) {{
  display: none !important; }}
[class*="st-key-card_"] {{ border: 0; border-top: 1px solid; border-radius: 0; }}
html, body, .stApp {{ background: light-dark(#fff, #16191d); }}
"""
_ROOM = """{ content: ""; display: block; flex: 1 0 100%; height: 4.4rem; margin-bottom: 1rem;
  background: linear-gradient(#8a8a8a, #8a8a8a) 0 50% / 100% 1px no-repeat;
  border-bottom: 1px solid #8a8a8a; }"""
"""Two lines to write on."""
_LINES = ", ".join(
    f"linear-gradient(#8a8a8a, #8a8a8a) 0 {at * 2.2:.1f}rem / 100% 1px no-repeat"
    for at in range(1, 24)
)
ON_PAPER = f"""<style>
@page {{ margin: 13mm; }}
@media print {{
  {_WITHOUT_CONTROLS}
  html, body, #root, .stApp, .stApp [data-testid="stAppViewContainer"],
  .stApp [data-testid="stMain"] {{
    position: static !important; display: block !important; overflow: visible !important;
    height: auto !important; min-height: 0 !important; transform: none !important;
    print-color-adjust: exact; }}
  .stApp [data-testid="stMainBlockContainer"] {{
    width: {WIDE}px; max-width: none; padding: 0; zoom: {_SMALLER}; }}
  [data-testid="stMainBlockContainer"] [data-testid="stVerticalBlock"]:has(
    [class*="st-key-card_"]) {{ display: block; }}
  :is([class*="st-key-write_"], [class*="st-key-solved_"]) {{ break-inside: avoid; }}
  [class*="st-key-solved_"] {{ zoom: 0.8; }}
  [class*="st-key-card_"] {{ break-inside: avoid; margin-bottom: 1rem; }}
  :is(h1, h2, h3) {{ break-after: avoid; }}
  svg.marks {{ background: transparent !important; }}
  [class*="st-key-drawn_"] :is(svg, canvas) {{
    width: 100% !important; height: 100% !important; object-fit: contain; }}
  [class*="st-key-question_"]:has([class*="st-key-skip_"])::after {_ROOM}
  .st-key-answers_of_hand_out {{ break-before: page; }}
}}
</style>"""
"""Beside `STYLE`, of every page: how it prints."""
DARK_ON_PAPER = """<style>
@media print {
  html, body, .stApp { background: #fff !important; color-scheme: light !important; }
  .stApp :not(svg *, .token, [style*="color"]) {
    color: #2b2b2b !important; border-color: #d5d2ca !important; }
  .stApp :is(pre, code) { background: #f3f1ec !important; }
  .stApp :is(canvas.marks, svg.marks:not([class*="st-key-drawn_"] *)) {
    color-scheme: dark; filter: invert(1) hue-rotate(180deg); }
}
</style>"""
"""Beside `ON_PAPER`, of a page in the dark theme: paper is white. Pictures choose by the scheme;
one that is a canvas, and a chart that Streamlit gave its theme, have their colours turned."""
HAND_OUT = f"""<style>
{_WITHOUT_CONTROLS}
.stApp [data-testid="stMainBlockContainer"] {{
  max-width: {WIDE}px; margin: 0 auto; padding: 1.5rem 0; }}
.stApp :is([data-testid="stCaptionContainer"] *, pre *, small, code) {{
  font-size: 0.9rem !important; }}
[data-testid="stVegaLiteChart"], svg.marks {{ overflow: visible !important; }}
svg.marks:not([class*="st-key-drawn_"] *) text {{ font-size: 0.9rem; }}
[class*="st-key-write_"]::after {_ROOM}
:is(.st-key-closing_of_hand_out, .st-key-answers_in_words) {{
  display: grid; grid-template-columns: 1fr 1fr; gap: 0 2.5rem; }}
:is(.st-key-closing, .st-key-answers_in_words > div) {{ break-inside: avoid; }}
:is(.st-key-closing_of_hand_out, .st-key-answers_in_words) > div {{ align-self: start; }}
.st-key-closing_of_hand_out > :last-child:nth-child(odd) {{ grid-column: 1 / -1; }}
.st-key-name_and_date [data-testid="stText"] {{ border-bottom: 1px solid #8a8a8a; }}
@media screen and (max-width: 640px) {{
  .stApp [data-testid="stMainBlockContainer"] {{ padding: 1.5rem 1rem; }} }}
@media print {{
  .st-key-how_to_print {{ display: none; }}
  .st-key-closing {{ position: relative; }}
  :has(.st-key-answers_of_hand_out) .st-key-closing::after {{
    content: ""; position: absolute; top: 100%; width: 100%; height: 85vh;
    background: {_LINES}; }}
  .st-key-answers_of_hand_out {{
    position: relative; background: #fff; box-shadow: 0 0 0 8px #fff; min-height: 95vh; }}
}}
</style>"""
"""Beside `ON_PAPER`, of a page that is a hand-out: on the screen it looks as it prints. Whether the
closing questions begin a sheet, no style can tell: so lines for notes go on below them, and where
they would come out again on the next sheet, the answers lie over them."""
