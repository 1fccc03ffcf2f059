"""The style of cards and pictures. If Streamlit renames an element, only looks change."""

# Ours, and constant. No angle bracket may stand in it: Streamlit would drop the whole style.
#
# Streamlit gives each element another class when a run begins and when it ends. To the browser,
# each may then be what `[class*=…]` means, and it styles anew all in it that could be what follows.
# So what follows is said by class or tag: where it could be anything, that was all of the page,
# twice a run.
CARDS = """<style>
[data-testid="stMain"] h1 { font-size: 1.7rem; padding: 0; }
[data-testid="stMain"] h2 { font-size: 1.2rem; padding: 0 0 0.15rem; line-height: 1.3; }
/* A page's head lies at the height of Streamlit's bar, of which only buttons take the pointer. */
[data-testid="stHeader"] { background: transparent; }
[data-testid="stHeader"], [data-testid="stHeader"] [data-testid="stToolbar"] {
  pointer-events: none; }
[data-testid="stHeader"] [data-testid="stToolbar"] :is(button, a) { pointer-events: auto; }
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-words_"]) {
  flex: 1 1 21rem; max-width: 44rem; }
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-beside_"]) {
  flex: 0 1 auto; margin-left: auto; }
[class*="st-key-aside_"] { display: none; }
[class*="st-key-card_"], [class*="st-key-row_"] { container-type: inline-size; }
[class*="st-key-band_"] [data-testid="stMarkdownContainer"] p {
  line-height: 1.45; text-wrap-style: pretty; }
[class*="st-key-picture_"] { position: relative; }
[class*="st-key-drawn_"] { position: absolute; inset: 0; }
[class*="st-key-drawn_"] [data-testid="stVegaLiteChart"] { overflow: hidden; mask: none; }
/* What waits for its turn never shows old numbers as if they were new. */
[data-waits] { position: relative; }
[data-waits] > * { opacity: 0.08; }
[data-waits]::after { content: "Catching up with what you changed …"; position: absolute;
  top: 0.6rem; left: 0.6rem; padding: 0.4rem 0.7rem; border-radius: 0.5rem; font-size: 0.9rem;
  background: light-dark(#f3f0e9, #20252b); color: light-dark(#4b5059, #b7bbc5); }
/* Three spaces are its height: in a window, in a wide one, on a phone. */
[class*="st-key-picture_"] > .stElementContainer:is(:nth-child(2), :nth-child(3)) { display: none; }
@container (max-width: 565px) {
  [data-testid="stLayoutWrapper"]:has(> [class*="st-key-beside_"]) { margin-left: 0; }
  [class*="st-key-beside_"] { justify-content: flex-start; }
  [class*="st-key-picture_"] > .stElementContainer:nth-child(1) { display: none; }
  [class*="st-key-picture_"] > .stElementContainer:nth-child(3) { display: flex; }
}
@container (min-width: 1150px) {
  [class*="st-key-picture_"] > .stElementContainer:nth-child(1) { display: none; }
  [class*="st-key-picture_"] > .stElementContainer:nth-child(2) { display: flex; }
}
/* The keyboard's way into a picture: in its corner, out of the way of all else. */
[class*="st-key-keys_"] { position: absolute; right: 0; bottom: 0; width: auto; z-index: 1; }
/* Where a sentence ends in the corner, below it. */
[class*="st-key-keys_below_"] { position: static; align-self: flex-end; }
[class*="st-key-keys_"] button { min-height: 1.4rem; padding: 0; opacity: 0.75; }
[class*="st-key-keys_"] [data-testid="stButton"] { display: flex; }
[class*="st-key-keys_"] button p { font-size: 0.75rem; }
[class*="st-key-keys_"] button:focus-visible { opacity: 1; }
/* A control in the picture looks like Streamlit's own. */
[class*="st-key-moves_"] { justify-content: flex-end; }
[class*="st-key-moves_"] .vega-bindings, [class*="st-key-moves_"] .vega-bind {
  display: block; margin: 0; width: 100%; }
[class*="st-key-moves_"] .vega-bind label { display: grid; grid-template-columns: 1fr auto;
  font-size: 0.875rem; gap: 0.35rem 1rem; }
[class*="st-key-moves_"] .vega-bind-name { width: auto; }
[class*="st-key-moves_"] .vega-bind input { grid-column: 1 / -1; grid-row: 2; width: 100%;
  appearance: none; height: 4px; border-radius: 2px; margin: 0.75rem 0;
  background: color-mix(in srgb, currentColor 22%, transparent); }
[class*="st-key-moves_"] input::-webkit-slider-thumb { appearance: none; width: 14px; height: 14px;
  border-radius: 50%; background: light-dark(#24639E, #8AB6E1); cursor: grab; }
[class*="st-key-moves_"] input::-moz-range-thumb { border: 0; width: 14px; height: 14px;
  border-radius: 50%; background: light-dark(#24639E, #8AB6E1); cursor: grab; }
[class*="st-key-moves_"] .vega-bind span:last-child { color: light-dark(#24639E, #8AB6E1); }
[class*="st-key-untold_"] .vega-bind span:last-child { display: none; }
.st-key-head { padding-bottom: 0.2rem; }
.st-key-head p { margin: 0; text-wrap-style: pretty; }
/* As high as it will be, also before what is in it has come. */
@media (min-width: 641px) {
  .st-key-head div:has(> .st-key-quiet) { height: 1.8rem; }
}
.st-key-quiet button { min-height: 1.8rem; padding-block: 0; }
/* Its picture comes last, when torch is loaded: nothing below it is to move then. */
.stApp .st-key-hero { min-height: 520px; }
@media (max-width: 640px) {
  .stApp .st-key-hero { min-height: 54rem; } /* all of a phone's screen */
}
/* So do charts that are as high as their bars. */
.stApp [class*="chart_of_next"] { min-height: 221px; }
.stApp [class*="chart_of_next_tokens"] { min-height: 172px; }
</style>"""
