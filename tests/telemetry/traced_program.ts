/**
 * A program that prompts an agent which telemetry observes; its arguments are the URL of a server of the API of OpenAI and
 * that of a page, which its tool reads.
 *
 * @module
 */

import { createOpenAI } from "../../adapters/openai/mod.ts";
import { Agent, defineTool } from "../../mod.ts";
import { telemetry } from "../../src/telemetry/mod.ts";

const [baseUrl = "", page = ""] = Deno.args;
const readPage = defineTool({
  name: "read_page",
  description: "Reads the page.",
  parameters: { type: "object" },
  execute: async () => await (await fetch(page)).text(),
});
const agent = new Agent({
  model: "openai/gpt",
  streamFn: createOpenAI({ baseUrl, apiKey: "key", api: "chat" }),
  tools: [readPage],
});
const { observe } = await telemetry({ agentName: "helper" });
observe(agent);
const { error } = await agent.prompt("Read the page");
if (error) throw error;
