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

Deno.test("formatError(): shows no password and no key of --base-url", () => {
  const error = createError("openai answered 404: nothing here (check the baseUrl)");
  assertEquals(
    formatError(error, "https://user:canary@gateway.example/v1?api_key=canary&v=2"),
    "gateway.example (openai): 404: nothing here; check --base-url " +
      "(asked: https://gateway.example/v1?api_key=%5Bredacted%5D&v=2)",
  );
});

Deno.test("formatError(): replaces the options of the library", () => {
  const messages = [
    "openai: request to h:9 failed: fetch refuses this port: change the baseUrl",
    "No URL for Azure: pass baseUrl to createAzure(), such as https://my-resource.openai.azure.com",
    'No region for bedrock: pass region (for example "us-east-1") to createBedrock(), or set AWS_REGION for connect()',
    "No URL for the proxy: set SWINK_PROXY_URL in the environment, or pass providers: { proxy: { baseUrl } } to connect()",
  ];
  assertEquals(messages.map((message) => formatError(createError(message))), [
    "openai: request to h:9 failed: fetch refuses this port: change --base-url",
    "No URL for Azure: set AZURE_OPENAI_ENDPOINT or --base-url, such as https://my-resource.openai.azure.com",
    'No region for bedrock: set AWS_REGION, for example to "us-east-1"',
    "No URL for the proxy: set SWINK_PROXY_URL",
  ]);
});

Deno.test("formatError(): keeps other messages", () => {
  assertEquals(formatError(createError("openai answered 500")), "openai answered 500");
});
