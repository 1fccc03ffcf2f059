"""`python -m attention_core.real_model` writes the tiny language's weights into its folder."""

from .tiny import TINY, write

if __name__ == "__main__":
    write()
    print(f"written: {TINY}")
