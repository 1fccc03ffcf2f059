# Attention Explorer for everybody: docs/hosting.md says how to build and run it.
ARG PYTHON=3.13
FROM python:${PYTHON}-slim

WORKDIR /app

# PyTorch first, from its own index of builds without CUDA: for any Python and processor, and kept
# by what comes after it.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY requirements-app.txt requirements-model.txt ./
# hadolint ignore=DL3013 -- the list itself says which version
RUN pip install --no-cache-dir --index-url "$TORCH_INDEX" "$(grep ^torch requirements-app.txt)" \
    && pip install --no-cache-dir -r requirements-app.txt -r requirements-model.txt

COPY .streamlit .streamlit
COPY attention_core attention_core
COPY attention_ui attention_ui
COPY pages pages
COPY app.py ./
RUN python -m compileall -q .

# Nobody in particular: nothing is ever written.
USER 10001
EXPOSE 8501
HEALTHCHECK --start-period=30s --interval=30s --timeout=5s CMD ["python", "-c", \
    "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
# To name an address spares a request to the outside at the start, for the machine's own.
CMD ["streamlit", "run", "app.py", "--server.address=0.0.0.0", "--server.port=8501", \
    "--server.headless=true", "--browser.serverAddress=localhost"]
