# Toolcrib in a container: built in one stage, run in another, not as root.
#
# It could not be built where it was written (no container engine, no registry); tests/test_containers.py checks its
# form. Build: docker build -t toolcrib .   Run: docker run -p 127.0.0.1:8765:8765 -v toolcrib:/data toolcrib
FROM python:3.12-slim AS build
WORKDIR /build
COPY requirements.txt ./
RUN python -m venv /opt/toolcrib && /opt/toolcrib/bin/pip install --no-cache-dir --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE CHANGELOG.md SECURITY.md ./
COPY src ./src
COPY bench/toolcrib_bench ./bench/toolcrib_bench
RUN /opt/toolcrib/bin/pip install --no-cache-dir hatchling && \
    /opt/toolcrib/bin/pip install --no-cache-dir --no-deps --no-build-isolation . && \
    /opt/toolcrib/bin/pip install --no-cache-dir "psycopg[binary]"

FROM python:3.12-slim
RUN useradd --system --uid 10001 --create-home --home-dir /home/toolcrib toolcrib && \
    mkdir -p /data /workspace && chown toolcrib:toolcrib /data /workspace
COPY --from=build /opt/toolcrib /opt/toolcrib
ENV PATH=/opt/toolcrib/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    TOOLCRIB_HOME=/data \
    TOOLCRIB_WORKSPACE=/workspace \
    TOOLCRIB_HOST=0.0.0.0 \
    TOOLCRIB_PORT=8765
USER toolcrib
VOLUME ["/data", "/workspace"]
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8765/readyz', timeout=2)"]
ENTRYPOINT ["toolcrib"]
CMD ["up"]
