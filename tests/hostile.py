"""Texts and values that a page must survive, for the tests of pages, browser and links."""

import tomllib
from pathlib import Path

MARK = "zqzq"
"""A word that is nowhere on the pages but in the text that tests type."""
FETCHED = "http://127.0.0.1:9/"
"""An address that nothing may ask for."""
HTML = (
    f'<img src="{FETCHED}a.png" onerror="window.hacked=1"><script>window.hacked=1</script>'
    f'<svg onload="window.hacked=1"><iframe src="{FETCHED}"></iframe><style>*{{display:none}}'
    "</style><a href='javascript:window.hacked=1'>a</a>"
)
TEXTS = {
    "html": HTML.replace(" ", "/") + MARK,
    "markdown": f"![x]({FETCHED}b.png) [a](javascript:window.hacked=1) **{MARK}** # <{FETCHED}>",
    "directives": f":red[{MARK}] :material/{MARK}: :streamlit: ${MARK}$ $$x$$ \\[y\\]",
    "controls": f"{MARK} \x00\x07\x1b[31m \ufeff \u2028 \x9b1m",
    "right to left": "\u202e\u2066abc \u202dمرحبا שלום\u2069 \u200f" + MARK,
    "one long word": MARK + "x" * 4_000,
    "long words": " ".join(MARK * 15 for _ in range(60)),
    "combining marks": MARK + "\u0301\u0489\u20dd" * 1_300,
    "emoji": "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 1️⃣ 👍🏿 " + "👩\u200d" * 200 + MARK,
    "templates": f"${{alert(1)}} {{{{7*7}}}} <%= 1 %> %s %n {{0}} datum.x {MARK}",
    "quotes": f"'\"`\\ */ --> ]]> \\u0000 {MARK}'); window.hacked=1; //",
}

VALUES = (
    *("", " ", "0", "-0", "-1", "1", "00000001", "+3", "1.5", "1e9", "1e309", "-1e309", "1_000"),
    *("nan", "NaN", "inf", "-inf", "Infinity", "none", "None", "null", "undefined", "true", "on"),
    *("off", "99999999999999999999", "9" * 400, "4294967295", "4294967296", "-2147483649"),
    *("٣", "½", "１", "0x10", "1;2", "1,2,3", "0.0:nan", "0.0:1e999", "99999.999:1", "0.0:0.5"),
    *("63.63", "scores.0.0", "scores.-1.0", "scores.99999.99999", "a.0,b.1", "\x00", "\u202e"),
    *("../../etc/passwd", "<script>window.hacked=1</script>", "' OR 1=1 --", "%00%ff", "&a=b"),
    *("example=wild_cat&d_in=9999", "x" * 5_001, "d_in,seed,example"),
)
"""What a parameter of a link may hold, if somebody wishes harm."""
assert len(VALUES) >= 50

_LINKS = tomllib.loads(Path(__file__).with_name("links.toml").read_text(encoding="utf-8"))
HARD, BAD = _LINKS["hard"], _LINKS["bad"] | {"too long": {"sentence": "x " * 500}}
"""Links of settings that are hard together, and of what cannot be used, by what they are."""
