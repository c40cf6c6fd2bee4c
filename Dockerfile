FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -o /out/ ./cmd/orchestrator ./cmd/node

FROM scratch
COPY --from=build /out/ /turnstile/
WORKDIR /work
ENTRYPOINT ["/turnstile/orchestrator"]
CMD ["--help"]
