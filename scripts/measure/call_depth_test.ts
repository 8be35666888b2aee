import { assertEquals } from "@std/assert";
import { measureCallChain } from "./call_depth.ts";

const files = {
  "deno.json": `{ "exports": { ".": "./mod.ts", "./adapters/openai": "./adapters/mod.ts" } }`,
  "mod.ts": `
    export class Agent {
      #streamFn: () => Promise<unknown>;
      constructor(options: { streamFn: () => Promise<unknown> }) {
        this.#streamFn = options.streamFn;
      }
      async prompt() {
        await Promise.resolve();
        return this.#run();
      }
      #run() {
        return this.#streamFn();
      }
    }
  `,
  "adapters/mod.ts": `
    export function createOpenAI(options: { fetch: () => Promise<unknown> }) {
      return async function post() {
        await Promise.resolve();
        return await options.fetch();
      };
    }
  `,
};

Deno.test("measureCallChain() lists the functions between prompt() and fetch", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_measure_" });
  try {
    await Deno.mkdir(`${directory}/adapters`);
    for (const [path, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${directory}/${path}`, text);
    }
    const chain = await measureCallChain(new URL(`file://${directory}/`));
    assertEquals(chain, [
      { name: "mod.ts:7 Agent.prompt", isActive: true },
      { name: "mod.ts:11 Agent.#run", isActive: true },
      { name: "adapters/mod.ts:3 post", isActive: true },
    ]);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
