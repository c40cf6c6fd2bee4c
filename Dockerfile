# The image of Turnstile: the static programs that `make image` puts into bin/image, and nothing else. To build
# them with Docker as well, see compose/Dockerfile.build.
FROM scratch
COPY bin/image/ /turnstile/
WORKDIR /work
ENTRYPOINT ["/turnstile/orchestrator"]
CMD ["--help"]
