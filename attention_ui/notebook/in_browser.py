"""What a picture brings along for the browser: its style, its script, and the page around it."""

from pathlib import Path

_HERE = Path(__file__).parent
STYLE = (_HERE / "picture.css").read_text(encoding="utf-8")
SCRIPT = (_HERE / "picture.js").read_text(encoding="utf-8")
PAGE = """<!DOCTYPE html><html lang="en" data-attention><head><meta charset="utf-8">
<title>Attention Explorer</title>
<style>:root { color-scheme: light dark; color: CanvasText; } body { margin: 0; }</style></head>
<body>BODY</body></html>"""
FRAME = """<iframe title="Attention Explorer" style="width:100%;border:0;height:TALLpx"
 srcdoc="PAGE"></iframe>"""
