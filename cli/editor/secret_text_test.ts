import { assertEquals, assertLess } from "@std/assert";
import { startThreadTimer } from "../../tests/thread_time.ts";
import { containsSecret } from "./secret_text.ts";

const SECRETS = [
  "use sk-ant-REDACTED please",
  "#key anthropic abc",
  "/key set openai hunter2",
  "key google xyz",
  "export MY_API_KEY=abcdef123456",
  'password: "hunter2hunter2"',
  "9f86d081884c7d659a2feaa0c55ad015",
  "dGhpcyBpcyBhIHNlY3JldCBrZXk0Mg==",
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
  "postgres://user:secret1@host/db",
  "the secret is hidden-value",
];

const HARMLESS = [
  "",
  "Fix the failing test in src/core/models/model.ts",
  "/model anthropic/claude-sonnet-5-5",
  "#key",
  "#keys",
  "What does the key of a Map do?",
  "password: validate that it is long enough",
  "internationalization_of_the_whole_program",
  "src/tools/sandbox/confined_files_test.ts",
  "/work/project/a1b2c3d4e5f6/src/file",
  "release-2026-11-28-candidate-2",
  "revert 9f86d081884c7d659a2feaa0c55ad015 and push",
  "x".repeat(100),
];

Deno.test("containsSecret() recognizes keys, passwords and commands that set a key", () => {
  for (const text of SECRETS) assertEquals(containsSecret(text, ["hidden-value"]), true, text);
});

Deno.test("containsSecret() recognizes a random word of the length of a key", () => {
  const word = "a8Kd03nfLqPz17xYcW5vRt2Jm9Bs6Gh4".repeat(17);
  const lengths = [[23, false], [24, true], [512, true], [513, false]] as const;
  for (const [length, expected] of lengths) {
    assertEquals(containsSecret(word.slice(0, length)), expected, `${length}`);
  }
});

Deno.test("containsSecret() accepts prompts, paths, names and commits", () => {
  for (const text of HARMLESS) assertEquals(containsSecret(text), false, text);
});

Deno.test("containsSecret(): the time is proportional to the length of the text", () => {
  const getThreadTime = startThreadTimer();
  assertEquals(containsSecret("key=".repeat(100_000)), false);
  assertLess(getThreadTime(), 5_000);
});
