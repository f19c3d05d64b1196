# The command and nothing else. The context is a directory that holds a static `cuvee`, built with `--profile dist`.
FROM scratch
COPY cuvee /cuvee
WORKDIR /work
ENTRYPOINT ["/cuvee"]
