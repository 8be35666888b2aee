import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { findSecrets, redact } from "./redact.ts";

Deno.test("redact() replaces API keys and JSON web tokens anywhere in a text", () => {
  const keys = [
    "sk-ant-api03-abcdefghijklmnop",
    "sk-proj-abcdefghijklmnop_1234",
    "gsk_abcdefghijklmnop",
    "xai-abcdefghijklmnop",
    "hf_abcdefghijklmnop",
    "AIzaSyAbcdefghijklmnop",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnop1234",
    "glpat-abcdefghijklmnop1234",
    "xoxb-123456789012-abcdefghijkl",
    "sk_live_abcdefghijklmnop1234",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "ya29.a0AbCdEfGh-IjKl_MnOpQr.StUv",
    "fw_abcdefghijklmnop1234",
    "csk-abcdefghijklmnop1234",
    "nvapi-abcdefghijklmnop1234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  ];
  for (const key of keys) {
    assertEquals(redact(key), "[redacted]");
    assertEquals(redact(`KEY=${key}`), "KEY=[redacted]");
    assertEquals(redact(`"key is\\n${key}", so`), '"key is\\n[redacted]", so');
    assertEquals(redact(`/v1/${key}/x`), "/v1/[redacted]/x");
  }
});

Deno.test("redact() replaces a key with each known prefix, at each place where a key may start", () => {
  const prefixes =
    "sk- csk- gsk_ xai- hf_ nvapi- pplx- AIza AKIA ASIA ABSK ghp_ gho_ ghr_ ghs_ ghu_ " +
    "github_pat_ glpat- xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- sk_live_ sk_test_ rk_live_ rk_test_ " +
    "npm_ fw_ ya29.";
  for (const prefix of prefixes.split(" ")) {
    const key = `${prefix}${"a1".repeat(8)}`;
    for (const before of ["", " ", '"', "=", "\n", "\\n", "\\t"]) {
      assertEquals(redact(`${before}${key};`), `${before}[redacted];`, before + key);
    }
    assertEquals(redact(`x${key}`), `x${key}`);
  }
});

Deno.test("redact() replaces the token after Bearer", () => {
  assertEquals(redact("authorization: Bearer abc.def/ghi=="), "authorization: Bearer [redacted]");
  assertEquals(redact("bearer  0123456789"), "bearer  [redacted]");
});

Deno.test("redact() keeps words and opaque texts that contain a key prefix by chance", () => {
  for (
    const text of [
      "risk-assessment-of-everything",
      "task-list",
      "sk-short",
      "gAAAAABsk-abcdefghijklmnopqrstuv",
      "xAIzaSyAbcdefghijklmnop",
      "the bearer of this",
      "npm_config_registry=https://example.com:443/a@b",
      "http://localhost:8080/user@example",
    ]
  ) assertEquals(redact(text), text);
});

Deno.test("redact() replaces the given secrets, except very short ones", () => {
  assertEquals(
    redact("my secret word, my secret word", ["secret word"]),
    "my [redacted], my [redacted]",
  );
  assertEquals(redact("a key of k", ["k", ""]), "a key of k");
});

Deno.test("redact() replaces overlapping secrets once", () => {
  assertEquals(redact("Bearer sk-abcdefghijklmnop.rest", ["abcdefgh"]), "Bearer [redacted]");
  assertEquals(findSecrets("0123456789", ["01234", "3456"]), [{ start: 0, end: 7 }]);
});

Deno.test("redact() does not change a text that is already redacted", () => {
  const redacted = redact("Bearer abcdefghijkl, sk-abcdefghijklmnop", ["word"]);
  assertEquals(redact(redacted, ["word"]), redacted);
});

Deno.test("redact() replaces passwords in URLs and private keys", () => {
  assertEquals(
    redact("git clone https://me:p4ss-word@host.example/r"),
    "git clone https://me:[redacted]@host.example/r",
  );
  const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----";
  assertEquals(redact(`a ${pem} b`), "a [redacted] b");
  assertEquals(redact(JSON.stringify({ key: pem, a: 1 })), '{"key":"[redacted]","a":1}');
  assertEquals(redact('{"delta":"-----BEGIN PRIVATE KEY-----\\n"}'), '{"delta":"[redacted]"}');
});

Deno.test("redact() keeps variables and example passwords, which code and its documentation have", () => {
  const values = [
    ...[
      "${password}",
      "${process.env.DB_PASSWORD}",
      "$DB_PASSWORD",
      "$password",
      "{password}",
      "{{password}}",
    ],
    ...["<password>", "%s", "%(password)s", "***", "password", "postgres", "secret", "changeme"],
  ];
  for (const value of values) {
    const url = `postgres://app:${value}@localhost/db`;
    assertEquals(redact(url), url);
  }
  for (const value of ["${env:DB_PASSWORD}", "${DB_PASSWORD:-}", "${DB_PASSWORD:-postgres}"]) {
    const url = `postgres://app:${value}@localhost/db`;
    assertEquals(redact(url), url, value);
  }
  for (const operator of [":-", "-", ":=", "=", ":+", "+", ":", "||"]) {
    const url = `postgres://app:\${DB_PASSWORD${operator}Tr0ub4dor}@localhost/db`;
    assertEquals(redact(url), "postgres://app:[redacted]@localhost/db", url);
  }
  for (const value of ["password1", "$ecret1", "{a", "${a}b", "passwords", "Secret7", "%s1"]) {
    assertEquals(redact(`postgres://app:${value}@db`), "postgres://app:[redacted]@db", value);
  }
  assertEquals(redact("Authorization: Bearer YOUR_API_KEY"), "Authorization: Bearer YOUR_API_KEY");
  assertEquals(redact("Bearer your-token-here"), "Bearer your-token-here");
  assertEquals(redact("Bearer yours12345"), "Bearer [redacted]");
  for (
    const text of ["hf_hub_download(repo)", "Use Bearer authentication.", "no bearer credentials"]
  ) {
    assertEquals(redact(text), text);
  }
  assertEquals(redact("hf_oauth_eyJhbGciOiJI.eyJzdWIiOiIx.sig"), "[redacted]");
});

Deno.test("redact() takes seconds at most, not minutes, for 500 KB of text that begins like secrets", () => {
  const pieces = [
    " ",
    "\n",
    "Bearer ",
    "Bearer  \t",
    "sk-",
    "eyJ",
    "://",
    "://a:",
    ":",
    "@",
    "\\n",
  ];
  const getThreadTime = startThreadTimer();
  for (const piece of [...pieces, "-----BEGIN ", "-----BEGIN PRIVATE KEY-----"]) {
    redact(piece.repeat(500_000 / piece.length));
  }
  assert(getThreadTime() < 10_000);
});
