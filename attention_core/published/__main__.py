"""`python -m attention_core.published`: every published number, computed again."""

from .report import main

if __name__ == "__main__":
    raise SystemExit(main())
