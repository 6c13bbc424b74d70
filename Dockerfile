# One image for every role; the role is chosen by `groundwatch run --roles`. Runs as an ordinary user.
FROM python:3.11.14-slim-bookworm

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1
WORKDIR /app

# Dependencies first: they change more rarely than the code, and this layer is the large one.
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN python -c "import tomllib; print('\n'.join(tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']))" > /tmp/needs.txt \
 && pip install --constraint constraints.txt --requirement /tmp/needs.txt

COPY schemas schemas
COPY detectors detectors
COPY sampling sampling
COPY alerts alerts
COPY streams streams
COPY dashboards dashboards
COPY demo demo
RUN pip install --constraint constraints.txt --no-deps . \
 && useradd --create-home --uid 10001 groundwatch \
 && install -d -o groundwatch /data

USER groundwatch
ENV GROUNDWATCH_DATA_DIR=/data GROUNDWATCH_EMBEDDED=false GROUNDWATCH_LOG__FORMAT=json
VOLUME /data
EXPOSE 8642 8643
ENTRYPOINT ["groundwatch"]
CMD ["run"]
