# One image for each service: docker build --build-arg SERVICE=recall -t hindsight-recall .
# SERVICE is extractor, recall, consolidator, pruner, gateway, standalone or cli.

FROM python:3.11.13-slim-bookworm AS built
ARG SERVICE
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]

# pinned by hash, and only what this service needs
COPY requirements.lock ./
COPY scripts/image_requirements.py scripts/
COPY libs/common/pyproject.toml libs/common/
COPY libs/client/pyproject.toml libs/client/
COPY services/extractor/pyproject.toml services/extractor/
COPY services/recall/pyproject.toml services/recall/
COPY services/consolidator/pyproject.toml services/consolidator/
COPY services/pruner/pyproject.toml services/pruner/
COPY services/gateway/pyproject.toml services/gateway/
COPY deploy/standalone/pyproject.toml deploy/standalone/
RUN python scripts/image_requirements.py build > /tmp/build.txt \
 && python scripts/image_requirements.py "$SERVICE" > /tmp/needed.txt \
 && python -m venv /opt/build \
 && /opt/build/bin/pip install --quiet --require-hashes --only-binary :all: -r /tmp/build.txt \
 && python -m venv --without-pip /opt/hindsight \
 && /opt/build/bin/pip --python /opt/hindsight/bin/python install --quiet \
      --require-hashes --no-deps --only-binary :all: -r /tmp/needed.txt

COPY libs libs
COPY services services
COPY deploy/standalone deploy/standalone
RUN mapfile -t folders < <(python scripts/image_requirements.py "$SERVICE" --folders) \
 && /opt/build/bin/pip wheel --quiet --no-deps --no-index --no-build-isolation \
      --wheel-dir /tmp/wheels "${folders[@]/#/./}" \
 && /opt/build/bin/pip --python /opt/hindsight/bin/python install --quiet --no-deps --no-index /tmp/wheels/*.whl \
 && ln -s "hindsight-$SERVICE" /opt/hindsight/bin/hindsight

# the model is converted here, so that no container spends its first minute on it
COPY deploy/image/convert_model.py deploy/image/
RUN mkdir -p /opt/models \
 && if [ "$SERVICE" = recall ] || [ "$SERVICE" = standalone ]; then \
      /opt/hindsight/bin/python deploy/image/convert_model.py /opt/models; \
    fi


FROM python:3.11.13-slim-bookworm
ARG SERVICE
RUN useradd --system --uid 10001 --home-dir /var/lib/hindsight --create-home hindsight
COPY --from=built /opt/hindsight /opt/hindsight
COPY --from=built /opt/models /opt/models
COPY deploy/image/alive.py /opt/hindsight/alive.py
ENV PATH=/opt/hindsight/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OMP_NUM_THREADS=1 \
    SERVICE=$SERVICE \
    HINDSIGHT_HEALTH_PORT=8780 \
    HINDSIGHT_DATA_DIR=/var/lib/hindsight/data \
    HINDSIGHT_EMBEDDING__CACHE_DIR=/opt/models
USER hindsight
WORKDIR /var/lib/hindsight
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
    CMD ["python", "-I", "/opt/hindsight/alive.py"]
# a link to hindsight-$SERVICE: in this form the process itself gets the signals
ENTRYPOINT ["/opt/hindsight/bin/hindsight"]
