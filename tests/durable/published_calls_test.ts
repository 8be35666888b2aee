import { assertEquals } from "@std/assert";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import { isJsonObject } from "../../src/core/json/json.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { InProcessEngine } from "../../src/durable/in_process/in_process_engine.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { waitUntil } from "../wait_until.ts";

Deno.test("durableAgent(): the end of a call is published once, although another call of the batch is executed again", async () => {
  const store = new InMemorySessionStore();
  const open = async (
    slow: () => Promise<string>,
    script: Parameters<typeof scriptedStream>[0],
  ) => {
    const engine = new InProcessEngine({ store });
    const define = (name: string, execute: () => string | Promise<string>) =>
      defineTool({
        name,
        description: "",
        parameters: { type: "object" },
        readOnly: true,
        execute: (_args, { onUpdate }) => {
          onUpdate(`${name} works`);
          return execute();
        },
      });
    const tools = [define("fast", () => "fast"), define("slow", slow)];
    const workflow = engine.register("work", async (steps: DurableSteps, _input: null) => {
      const streamFn = scriptedStream(script);
      const agent = durableAgent({ model: "any/model", streamFn, tools }, steps);
      agent.subscribe((event) => steps.publish(event));
      return (await agent.prompt("Go")).text;
    });
    await engine.start();
    return { engine, workflow };
  };
  const listEnds = async (engine: InProcessEngine): Promise<unknown[]> =>
    (await engine.getRun("run").readEvents()).flatMap((published) => {
      const event = published.type === "event" ? published.event : undefined;
      return isJsonObject(event) && event["type"] === "tool_execution_end" ? [event["name"]] : [];
    });

  const calls = reply([toolCall("fast", {}, { id: "a" }), toolCall("slow", {}, { id: "b" })]);
  const never = createDeferred<string>();
  const first = await open(() => never.promise, [calls]);
  await first.workflow.start(null, { id: "run" });
  let ends: unknown[] = [];
  await waitUntil(() => {
    void listEnds(first.engine).then((names) => ends = names);
    return ends.length === 1;
  });
  await first.engine.close({ graceMs: 0 });

  const second = await open(() => Promise.resolve("slow"), [reply("Done")]);
  assertEquals(await second.engine.getRun("run").result(), "Done");
  assertEquals(await listEnds(second.engine), ["fast", "slow"]);
  await second.engine.close();
});
