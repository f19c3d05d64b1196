# The command and nothing else. The context is a directory that holds a static `cuvee`, built with `cargo build-dist`.
FROM scratch
COPY cuvee /cuvee
WORKDIR /work
ENTRYPOINT ["/cuvee"]
