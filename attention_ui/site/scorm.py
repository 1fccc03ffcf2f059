"""A lesson as a SCORM 1.2 package, for a course platform: it resumes, and reports a score."""

import io
import zipfile
from pathlib import Path

from ..frame.contents import HOME
from .lesson_file import ALONE, LessonFile
from .markdown import plain

_HERE = Path(__file__).parent
MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="attention_explorer_{name}" version="1.0"
  xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"
  xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
  <metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
  <organizations default="course">
    <organization identifier="course">
      <title>{title}</title>
      <item identifier="item_{name}" identifierref="resource_{name}"><title>{title}</title></item>
    </organization>
  </organizations>
  <resources>
    <resource identifier="resource_{name}" type="webcontent" adlcp:scormtype="sco"
      href="{name}.html"><file href="{name}.html"/></resource>
  </resources>
</manifest>
"""


REPORTS = (
    "as a part of a course, which is told which questions were answered, and how many of them "
    "right the first time."
)
"""What is so of a package, in the place of `ALONE`."""


def package(made: LessonFile) -> bytes:
    """The package of a lesson, as the bytes of a ZIP file."""
    title = plain(f"{made.title} · {HOME.title}")
    script = (_HERE / "scorm.js").read_text(encoding="utf-8")
    files = {
        "imsmanifest.xml": MANIFEST.format(name=made.name, title=title),
        f"{made.name}.html": made.page(f"<script>{script}</script>").replace(ALONE, REPORTS),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as to:
        for name, text in files.items():
            # Of no day: the same lesson is the same file.
            to.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
