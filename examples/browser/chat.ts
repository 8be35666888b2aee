// The script of the page: an agent whose model is behind the proxy, and whose tool changes the page.

import { Agent, type CompiledSchema, defineTool } from "@swink/agent";
import { createProxy } from "@swink/agent/adapters/proxy";

/** The parts of the page that the agent changes. */
export interface Page {
  write(text: string): void;
  setColor(color: string): void;
}

/** Sends a prompt to the agent of the page. */
export async function chat(url: string, page: Page): Promise<void> {
  const agent = new Agent({
    model: "anthropic/claude-sonnet-5-5",
    streamFn: createProxy({ baseUrl: url, apiKey: "token-of-the-user" }),
    validator: compileWithoutEval, // the default one needs `eval`, which the page forbids
    tools: [defineTool({
      name: "set_color",
      description: "Changes the color of the page.",
      parameters: {
        type: "object",
        properties: { color: { type: "string" } },
        required: ["color"],
      },
      execute({ color }) {
        page.setColor(color);
        return `The color is ${color}.`;
      },
    })],
  });
  const { text, error } = await agent.prompt("Make the page teal");
  page.write(error?.message ?? text);
}

function compileWithoutEval(): CompiledSchema {
  return (value) =>
    typeof Object(value).color === "string" ? [] : [{ path: "/color", message: "must be a text" }];
}

if ("document" in globalThis) {
  const { document } = globalThis as unknown as {
    document: { body: { textContent: string; style: { color: string } } };
  };
  await chat(new URL("/models", location.href).href, {
    write: (text) => document.body.textContent = text,
    setColor: (color) => document.body.style.color = color,
  });
}
