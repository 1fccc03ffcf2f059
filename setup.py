"""What pyproject.toml cannot say: `app.py` and `pages/`, which `streamlit run` and Community Cloud
want in this folder, are installed within the package, as `attention_explorer.served`.
"""

from setuptools import find_packages, setup

SERVED = "attention_explorer.served"

setup(
    packages=[*find_packages(include=["attention_*"]), SERVED, f"{SERVED}.pages"],
    package_dir={SERVED: "."},
    script_name="setup.py",  # of this folder's modules the one that is not installed
)
