"""Lessons as a SCORM 1.2 package, for a course platform: they resume, and report a score."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from xml.sax.saxutils import quoteattr

from ..frame.contents import HOME
from .lesson_file import ALONE, LessonFile, read, shared_files
from .markdown import plain

MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="attention_explorer_{name}" version="1.0"
  xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"
  xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
  <metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
  <organizations default="course">
    <organization identifier="course">
      <title>{title}</title>
{items}
    </organization>
  </organizations>
  <resources>
{resources}
  </resources>
</manifest>
"""
ITEM = """\
      <item identifier="item_{name}" identifierref="resource_{name}" isvisible="true">
        <title>{title}</title>
      </item>"""
"""`isvisible` is true where it is left out, but Open edX shows only items that have it."""
SCO = """\
    <resource identifier="resource_{name}" type="webcontent" adlcp:scormtype="sco"
      href="{name}.html"><file href="{name}.html"/>{shares}</resource>"""
SHARES = '<dependency identifierref="shared"/>'
SHARED_RESOURCE = """\
    <resource identifier="shared" type="webcontent" adlcp:scormtype="asset">{files}</resource>"""
REPORTER = "scorm.js"

REPORTS = (
    "as part of a course. The course is told how many questions were right the first time, and "
    "keeps your answers for when you come back."
)
"""What a package says where a single file says `ALONE`."""


def package(lessons: Sequence[LessonFile]) -> bytes:
    """The package of a lesson, or of several as one course in this order, as the bytes of a ZIP
    file. What several lessons share stands in it once. No lesson may be there twice.
    """
    reporter = read(REPORTER)
    if len(lessons) == 1:
        (one,) = lessons
        pages = {f"{one.name}.html": one.page(f"<script>{reporter}</script>")}
        shared: dict[str, str] = {}
    else:
        load = f'<script src="{REPORTER}"></script>'
        pages = {f"{one.name}.html": one.page_of_package(load) for one in lessons}
        shared = {**shared_files(), REPORTER: reporter}
    pages = {name: text.replace(ALONE, REPORTS) for name, text in pages.items()}
    return _packed({"imsmanifest.xml": _manifest(lessons, [*shared]), **pages, **shared})


def _manifest(lessons: Sequence[LessonFile], shared: Sequence[str]) -> str:
    """What is in a package, and in which order."""
    title, name = f"{lessons[0].title} · {HOME.title}", lessons[0].name
    if len(lessons) > 1:
        # Two courses of the same lessons at other settings are two.
        about = "".join(one.name + one.settings for one in lessons).encode()
        title, name = HOME.title, f"course_{blake2b(about, digest_size=6).hexdigest()}"
    items = [ITEM.format(name=one.name, title=plain(one.title)) for one in lessons]
    shares = SHARES if shared else ""
    resources = [SCO.format(name=one.name, shares=shares) for one in lessons]
    if shared:
        files = "".join(f"<file href={quoteattr(each)}/>" for each in shared)
        resources.append(SHARED_RESOURCE.format(files=files))
    return MANIFEST.format(
        name=name, title=plain(title), items="\n".join(items), resources="\n".join(resources)
    )


def _packed(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as to:
        for name, text in files.items():
            # Of no day: the same lesson is the same file.
            to.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
