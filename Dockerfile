# Two stages: a static binary, then nothing but it, certificates and a folder
# for data that the user of the process may write.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/carillon . && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/carillon /carillon
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV CARILLON_LISTEN=0.0.0.0:8080 \
    CARILLON_DATABASE=sqlite:/data/carillon.db
VOLUME /data
WORKDIR /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s CMD ["/carillon", "healthcheck"]
# The access token has no default: give CARILLON_ACCESS_TOKEN.
ENTRYPOINT ["/carillon"]
CMD ["serve"]
