import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { createUrlBuilder, hasResponses } from "./url.ts";

const RESOURCE = "https://r.openai.azure.com";

/** URL and version of the options, and the URLs of chat completions and of the Responses API. */
const URLS: readonly (readonly [
  url: string,
  version: string | undefined,
  chat: string,
  responses: string,
])[] = [
  [RESOURCE, undefined, "/openai/v1/chat/completions", "/openai/v1/responses"],
  [RESOURCE, "v1", "/openai/v1/chat/completions", "/openai/v1/responses"],
  [
    RESOURCE,
    "preview",
    "/openai/v1/chat/completions?api-version=preview",
    "/openai/v1/responses?api-version=preview",
  ],
  [
    RESOURCE,
    "2024-10-21",
    "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
    "/openai/responses?api-version=2024-10-21",
  ],
  [`${RESOURCE}/openai`, undefined, "/openai/v1/chat/completions", "/openai/v1/responses"],
  [`${RESOURCE}/openai/v1`, undefined, "/openai/v1/chat/completions", "/openai/v1/responses"],
  [
    `${RESOURCE}/openai/v1/responses`,
    undefined,
    "/openai/v1/chat/completions",
    "/openai/v1/responses",
  ],
  [
    `${RESOURCE}/openai/deployments/d/chat/completions`,
    "2024-10-21",
    "/openai/deployments/d/chat/completions?api-version=2024-10-21",
    "/openai/deployments/d/responses?api-version=2024-10-21",
  ],
];

Deno.test("createUrlBuilder(): builds the URLs of both APIs from every form of the target URL", () => {
  for (const [url, apiVersion, chat, responses] of URLS) {
    const build = (api: "chat" | "responses") =>
      createUrlBuilder(url, { api, apiVersion })("my gpt");
    assertEquals([build("chat"), build("responses")], [RESOURCE + chat, RESOURCE + responses]);
  }
});

Deno.test("createUrlBuilder(): the function throws without a URL", () => {
  const build = createUrlBuilder("", { api: "chat", apiVersion: undefined });
  assertThrows(() => build("d"), BadRequestError, "No URL for Azure");
});

Deno.test("hasResponses(): is true from version 2025-03-01 on, and not for the URL of a deployment", () => {
  const versions = [undefined, "v1", "preview", "2025-03-01-preview", "2025-03-01", "2025-04-01"];
  for (const version of versions) assertEquals(hasResponses(RESOURCE, version), true, version);
  for (const version of ["2025-02-28", "2024-10-21"]) {
    assertEquals(hasResponses(RESOURCE, version), false, version);
  }
  assertEquals(hasResponses(`${RESOURCE}/openai/deployments/d`, undefined), false);
});
