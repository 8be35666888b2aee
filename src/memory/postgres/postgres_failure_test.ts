import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { classifyFailure, createRedactor, describeFailure } from "./postgres_failure.ts";

/** Creates an error of a server, as `pg` does. */
function createServerError(code: string, message = "message"): Error {
  return Object.assign(new Error(message), { severity: "ERROR", code });
}

function createSystemError(code: string, message = "message"): Error {
  return Object.assign(new Error(message), { code });
}

Deno.test("classifyFailure(): repeats statements only while the server cannot be reached", () => {
  const errors = {
    disconnected: [
      createSystemError("ECONNREFUSED"),
      createSystemError("EPIPE"),
      createSystemError("ECONNREFUSED", ""),
      new Error("Connection terminated unexpectedly"),
      new Error("timeout exceeded when trying to connect"),
      createServerError("57P01"),
      createServerError("57P03"),
      createServerError("08006"),
      createServerError("53300"),
      createServerError("40P01"),
    ],
    timed_out: [new Error("Query read timeout")],
    refused: [
      createServerError("42501"),
      createServerError("28P01"),
      createServerError("57014"),
      createServerError("25006"),
    ],
    failed: [
      new TypeError("Invalid URL"),
      createSystemError("DEPTH_ZERO_SELF_SIGNED_CERT"),
      Object.assign(new Error("Requires net access"), { name: "NotCapable" }),
    ],
  };
  for (const [type, list] of Object.entries(errors)) {
    for (const error of list) assertEquals(classifyFailure(error).type, type, String(error));
  }
});

Deno.test("describeFailure(): names the cause and what to do", () => {
  const describe = (error: Error) =>
    describeFailure(classifyFailure(error), { timeoutMs: 30_000, retryMs: 10_000 });
  assertEquals(
    describe(createSystemError("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432")),
    "the Postgres server could not be reached for 10000 ms: connect ECONNREFUSED 127.0.0.1:5432: check that it runs " +
      "and that the connection is right",
  );
  assertStringIncludes(describe(createSystemError("ECONNREFUSED", "")), "ms: ECONNREFUSED: check");
  assertEquals(
    describe(createServerError("28P01", 'password authentication failed for user "app"')),
    'password authentication failed for user "app" (28P01): check the user and the password of the connection',
  );
  assertEquals(describe(createServerError("XX000", "internal")), "internal (XX000)");
  for (const code of ["42P07", "42703"]) {
    assertStringIncludes(describe(createServerError(code)), "pass the name of another schema");
  }
  assertStringIncludes(describe(new Error("Query read timeout")), "within 30000 ms");
});

Deno.test("createRedactor(): removes the connection and its password, also when it is decoded", () => {
  const secrets = ["s3cret", "p%40ss%2Fw", "p@ss/w", "two words"];
  const connections = [
    "postgres://app:s3cret@db:5432/app",
    "postgres://app:p%40ss%2Fw@db/app",
    "postgres:///app?host=/run&password=s3cret&user=app",
    "postgres://app:two words@db/app",
    "postgres://db/app",
  ];
  for (const connection of connections) {
    const redact = createRedactor(connection);
    const texts = [
      connection,
      encodeURI(connection),
      ...secrets.filter((s) => connection.includes(s)),
    ];
    for (const text of texts) {
      const redacted = redact(`cannot connect to ${text}: refused`);
      assertFalse(secrets.some((secret) => redacted.includes(secret)), redacted);
      assertStringIncludes(redacted, "cannot connect to ");
    }
  }
  assertEquals(createRedactor("postgres://app:p%40ss@db/app")("p@ss"), "***");
  // Encoded once more, the password begins with itself.
  assertEquals(createRedactor("postgres://app:p%25@db/app")(encodeURI("p%25")), "***");
});
