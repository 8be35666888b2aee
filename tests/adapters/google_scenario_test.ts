/**
 * A recorded tool loop: with the recorded responses, the agent sends the same requests as the recorded client.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createGoogle } from "../../adapters/google/mod.ts";
import { Agent, defineTool } from "../../mod.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { getFixtureDirectory } from "./wire_fixtures.ts";

const directory = getFixtureDirectory() &&
  `${getFixtureDirectory()}/scenarios/google-parallel-tools-loop`;

/** Removes what clients choose freely: ids, and the name of the field that holds a result. */
function normalizeField(key: string, value: unknown): unknown {
  if (key === "id") return undefined;
  return key === "response" ? Object.values(Object(value)) : value;
}

function parseContents(body: string): unknown {
  return JSON.parse(JSON.stringify(JSON.parse(body).contents, normalizeField));
}

function createCalculator(name: string, result: string): ReturnType<typeof defineTool> {
  const number = { type: "integer" } as const;
  const parameters = { type: "object", properties: { a: number, b: number } } as const;
  return defineTool({ name, description: "", parameters, readOnly: true, execute: () => result });
}

Deno.test({
  name: "createGoogle(): sends the recorded requests in scenario google-parallel-tools-loop",
  ignore: directory === undefined,
  async fn() {
    const read = (file: string) => Deno.readTextFileSync(`${directory}/${file}`);
    const fetch = replayFetch([1, 2].map((turn) => read(`turn-${turn}.response.sse`)));
    const agent = new Agent({
      model: "google/gemini-2.5-pro",
      streamFn: createGoogle({ fetch, apiKey: "k" }),
      tools: [createCalculator("add", "5"), createCalculator("multiply", "6")],
    });
    const { error } = await agent.prompt("Add and multiply the number 2 and 3");
    assertEquals(error, undefined);
    for (const [index, { body }] of fetch.requests.entries()) {
      assertEquals(parseContents(body), parseContents(read(`turn-${index + 1}.request.json`)));
    }
  },
});
