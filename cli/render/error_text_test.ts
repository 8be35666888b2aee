import { assertEquals } from "@std/assert";
import { AgentError } from "../../mod.ts";
import { formatError } from "./error_text.ts";

function createError(message: string): AgentError {
  return AgentError.from({ code: "bad_request", message, retryable: false, provider: "openai" });
}

Deno.test("formatError(): names the server of --base-url, and the option instead of the setting", () => {
  const url = "http://127.0.0.1:8791/v1";
  assertEquals(
    formatError(createError("openai answered 401: no key"), url),
    "127.0.0.1:8791 (openai): 401: no key",
  );
  assertEquals(
    formatError(createError("openai answered 404: nothing here (check the baseUrl)"), url),
    `127.0.0.1:8791 (openai): 404: nothing here; check --base-url (asked: ${url})`,
  );
  assertEquals(
    formatError(createError("openai answered with text/html: check the baseUrl"), url),
    `127.0.0.1:8791 (openai) answered with text/html; check --base-url (asked: ${url})`,
  );
  assertEquals(
    formatError(
      createError("openai answered with text/html instead of a stream: check the baseUrl"),
    ),
    "openai answered with text/html instead of a stream; check --base-url",
  );
});

Deno.test("formatError(): keeps other messages", () => {
  assertEquals(formatError(createError("openai answered 500")), "openai answered 500");
});
