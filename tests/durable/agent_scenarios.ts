/**
 * Tests of durable agents on any engine.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { DurableRun, PublishedEvent } from "../../src/core/durable/durable_engine.ts";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { isJsonObject } from "../../src/core/json/json.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { openDurableSession } from "../../src/durable/agent/durable_session.ts";
import { workflowTool } from "../../src/durable/agent/workflow_tool.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { type DurableEngineFixture, DurableSubject } from "../../src/testing/durable_subject.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { waitUntil } from "../wait_until.ts";

const parameters = { type: "object", properties: {} } as const;

/** Answers by the number of messages of the conversation, so that a process continues where another one has ended. */
function createModel(...script: readonly ScriptedStep[]): StreamFn {
  return (request) => {
    const replies = request.context.messages.filter(({ role }) => role === "assistant").length;
    return scriptedStream(script.slice(replies))(request);
  };
}

/** A process: the tools that it executes, and what they have done. */
class Process {
  readonly effects: string[] = [];

  tool(name: string, options: Partial<AgentTool> = {}): AgentTool {
    return defineTool({
      name,
      description: name,
      parameters,
      execute: () => {
        this.effects.push(name);
        return `${name} done`;
      },
      ...options,
    });
  }

  /** Creates a tool that does not return. */
  stuck(name: string, options: Partial<AgentTool> = {}): AgentTool {
    return this.tool(name, {
      ...options,
      execute: () => {
        this.effects.push(name);
        return new Promise<never>(() => {});
      },
    });
  }
}

type Scenario = (subject: DurableSubject, prefix: string) => Promise<void>;

/** Registers the tests with an engine. */
export function testDurableAgent(
  register: (name: string, fn: () => Promise<void>) => void,
  createFixture: () => DurableEngineFixture,
): void {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    register(name, async () => {
      const fixture = createFixture();
      const subject = new DurableSubject(fixture);
      try {
        await scenario(subject, `agent ${name.length}`);
      } finally {
        await subject.close();
        await fixture.dispose?.();
      }
    });
  }
}

/** Waits until a run has published an event of a type. */
async function waitForEvent(subject: DurableSubject, id: string, type: string): Promise<void> {
  const isFound = (published: PublishedEvent) =>
    published.type === "event" && isJsonObject(published.event) && published.event["type"] === type;
  for await (const batch of subject.engine.getRun(id).events()) {
    if (batch.some(isFound)) return;
  }
  throw new Error(`The run has ended without the event "${type}"`);
}

/** Starts a run of two agents, one after the other, whose calls have the same id and wait for approvals. */
async function startTwoApprovals(
  subject: DurableSubject,
  id: string,
  [first, second]: readonly [AgentTool, AgentTool],
): Promise<DurableRun<string>> {
  const start = await subject.open("two-approvals", async (steps, prompt: string) => {
    for (const tool of [first, second]) {
      const call = reply([toolCall("pay", {}, { id: "call" })]);
      const streamFn = createModel(call, reply("Done"), reply("Done"));
      const approve = () => ({ type: "pending" } as const);
      const options = { model: "test/model", streamFn, tools: [tool], approve };
      await durableAgent(options, steps).prompt(prompt);
      // Messages are delivered in order: those before this signal are for the agent until now.
      await steps.waitFor("decided");
    }
    return "Complete";
  });
  const run = await start("Pay", id);
  await waitForEvent(subject, id, "approval_awaited");
  return run;
}

/** Waits until a call of a run is pending. */
async function waitForPending(run: DurableRun): Promise<void> {
  while ((await run.pendingApprovals()).length === 0) {
    assertEquals(await run.status(), "running");
    await realSleep(5);
  }
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "a batch of an agent continues in another process": async (subject, id) => {
    const model = createModel(
      reply([toolCall("pay"), toolCall("send"), toolCall("put"), toolCall("read")]),
      reply("Finished"),
    );
    const ended: string[] = [];
    const start = (tools: readonly AgentTool[]) =>
      subject.open("batch", async (steps, prompt: string) => {
        const agent = durableAgent({ model: "test/model", streamFn: model, tools }, steps);
        agent.subscribe((event) => {
          if (event.type === "tool_execution_end") ended.push(event.name);
        });
        const { text, messages } = await agent.prompt(prompt);
        return { text, messages };
      });
    const first = new Process();
    const run = await start([
      first.tool("pay"),
      first.stuck("send"),
      first.stuck("put", { sideEffect: "idempotent" }),
      first.tool("read", { readOnly: true }),
    ]);
    await run("Work", id);
    // A call ends when its step is recorded.
    await waitUntil(() => first.effects.length === 4 && ended.length === 2);

    const second = new Process();
    await start([
      second.tool("pay"),
      second.tool("send"),
      second.tool("put", { sideEffect: "idempotent" }),
      second.tool("read", { readOnly: true }),
    ]);
    const result = await subject.engine.getRun<{ text: string; messages: unknown }>(id).result();
    assertEquals(result.text, "Finished");
    assertEquals(second.effects, ["put"]);
    const text = JSON.stringify(result.messages);
    for (const name of ["pay", "put", "read"]) assertStringIncludes(text, `${name} done`);
    assertEquals(text.split("is not known").length, 2);
  },

  "an approval is decided while no process executes the run": async (subject, id) => {
    const model = createModel(reply([toolCall("pay", {}, { id: "call" })]), reply("Paid"));
    const { effects, ...process } = (() => {
      const created = new Process();
      return { effects: created.effects, tool: created.tool("pay") };
    })();
    const open = (events: AgentEvent[]) =>
      subject.open("approval", async (steps, prompt: string) => {
        const agent = durableAgent({
          model: "test/model",
          streamFn: model,
          tools: [process.tool],
          approve: () => ({ type: "pending" }),
        }, steps);
        agent.subscribe((event) => void events.push(event));
        return (await agent.prompt(prompt)).text;
      });
    const events: AgentEvent[] = [];
    const start = await open(events);
    await start("Pay", id);
    const approval = { toolCallId: "call", name: "pay", arguments: {} };
    await waitForEvent(subject, id, "approval_awaited");
    assertEquals(await subject.engine.getRun(id).pendingApprovals(), [approval]);
    await subject.openClient();
    await subject.engine.getRun(id).decide("call", true);
    assertEquals(effects, []);
    await open([]);
    assertEquals(await subject.engine.getRun(id).result(), "Paid");
    assertEquals(await subject.engine.getRun(id).pendingApprovals(), []);
    assertEquals(effects, ["pay"]);
  },

  "agents of one run share no keys and no runs if the ids of calls are equal": async (
    subject,
    id,
  ) => {
    await subject.close();
    const keys: string[] = [];
    const pay = new Process().tool("pay", {
      execute: (_args, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return Promise.resolve("paid");
      },
    });
    const order = await subject.openWith((engine) => {
      const child = engine.register(
        "equal-ids-child",
        (_steps, prompt: string) => Promise.resolve(`Report on ${prompt}`),
      );
      const research = workflowTool({
        name: "research",
        description: "Researches.",
        workflow: child,
      });
      return engine.register("equal-ids", async (steps, prompts: string[]) => {
        const reports: string[] = [];
        for (const prompt of prompts) {
          const calls = [
            toolCall("research", { prompt }, { id: "a" }),
            toolCall("pay", {}, { id: "b" }),
          ];
          const streamFn = createModel(reply(calls), reply("Complete"));
          const agent = durableAgent(
            { model: "test/model", streamFn, tools: [research, pay] },
            steps,
          );
          const { messages } = await agent.prompt(prompt);
          reports.push(JSON.stringify(messages.filter(({ role }) => role === "tool_result")));
        }
        return reports;
      });
    });
    const run = await order.start(["First", "Second"], { id });
    const [first = "", second = ""] = await run.result() as string[];
    assertStringIncludes(first, "Report on First");
    assertStringIncludes(second, "Report on Second");
    assertEquals(new Set(keys).size, 2);
  },

  "a second decision on a call decides about no call of another agent": async (subject, id) => {
    const process = new Process();
    const paid = createDeferred<void>();
    const pay = process.tool("pay", {
      execute: async () => {
        process.effects.push("pay");
        await paid.promise;
        return "paid";
      },
    });
    const run = await startTwoApprovals(subject, id, [pay, process.tool("pay")]);
    await run.decide("call", true);
    await waitForEvent(subject, id, "approval_settled");
    await run.decide("call", true);
    paid.resolve();
    await run.signal("decided");
    await waitForPending(run);
    assertEquals(process.effects, ["pay"]);
    await run.decide("call", false);
    await run.signal("decided");
    assertEquals(await run.result(), "Complete");
    assertEquals(process.effects, ["pay"]);
  },

  "a decision on a call that steering has ended decides about no call of another agent": async (
    subject,
    id,
  ) => {
    const process = new Process();
    const run = await startTwoApprovals(subject, id, [process.tool("pay"), process.tool("pay")]);
    await run.steer("Do not pay");
    await waitForEvent(subject, id, "approval_settled");
    await run.decide("call", true);
    await run.signal("decided");
    await waitForPending(run);
    await run.decide("call", false);
    await run.signal("decided");
    assertEquals(await run.result(), "Complete");
    assertEquals(process.effects, []);
  },

  "a sub-agent is a run of its own, and is aborted with the calling run": async (subject, id) => {
    const hanging = createDeferred<void>();
    await subject.close();
    const start = await subject.openWith((engine) => {
      const child = engine.register("child", async (steps, prompt: string) => {
        const tool = defineTool({
          name: "hang",
          description: "Waits for its signal.",
          parameters,
          sideEffect: "idempotent",
          execute: (_args, { signal }) => {
            if (prompt === "Hang") hanging.resolve();
            else return "hung";
            return new Promise<string>((resolve) =>
              signal.addEventListener("abort", () => resolve("aborted"))
            );
          },
        });
        const streamFn = createModel(reply([toolCall("hang")]), reply(`Report on ${prompt}`));
        const agent = durableAgent({ model: "test/model", streamFn, tools: [tool] }, steps);
        return (await agent.prompt(prompt)).text;
      });
      const tools = [
        workflowTool({ name: "research", description: "Researches.", workflow: child }),
      ];
      return engine.register("parent", async (steps: DurableSteps, prompt: string) => {
        const streamFn = createModel(
          reply([toolCall("research", { prompt }, { id: "sub" })]),
          reply("Complete"),
        );
        const agent = durableAgent({ model: "test/model", streamFn, tools }, steps);
        const { text, messages } = await agent.prompt("Work");
        return { text, messages };
      });
    });
    const finished = await start.start("Work", { id });
    const { text, messages } = await finished.result();
    assertEquals(text, "Complete");
    assertStringIncludes(JSON.stringify(messages), "Report on Work");
    const child = subject.engine.getRun(`${id}:sub`);
    assertEquals([await child.status(), await child.result()], ["completed", "Report on Work"]);

    const aborted = await start.start("Hang", { id: `${id} aborted` });
    await hanging.promise;
    await aborted.abort("enough");
    await aborted.result();
    assertEquals(await aborted.status(), "aborted");
    const abortedChild = subject.engine.getRun(`${id} aborted:sub`);
    await abortedChild.result();
    assertEquals(await abortedChild.status(), "aborted");
  },

  "a sub-agent starts in the next process when its own was closed before": async (subject, id) => {
    const open = (lookUp: () => Promise<unknown>) =>
      subject.openWith((engine) => {
        const child = engine.register("late-child", (_steps, prompt: string) => `About ${prompt}`);
        const tools = [
          new Process().tool("look_up", {
            sequential: true,
            readOnly: true,
            execute: async () => {
              await lookUp();
              return "found";
            },
          }),
          workflowTool({ name: "research", description: "Researches.", workflow: child }),
        ];
        return engine.register("late-parent", async (steps, prompt: string) => {
          const calls = [toolCall("look_up"), toolCall("research", { prompt }, { id: "sub" })];
          const streamFn = createModel(reply(calls), reply("Complete"));
          const agent = durableAgent({ model: "test/model", streamFn, tools }, steps);
          const { messages } = await agent.prompt("Work");
          const last = await steps.run("last", async () => {
            const run = await child.start("the end", { id: `${id}-last` });
            return await run.result();
          });
          return [JSON.stringify(messages.filter(({ role }) => role === "tool_result")), last];
        });
      });
    const started = createDeferred<void>();
    const closing = createDeferred<void>();
    const parent = await open(() => {
      started.resolve();
      return closing.promise;
    });
    await parent.start("Work", { id });
    await started.promise;
    subject.stopGracefully();
    const closed = subject.close();
    closing.resolve();
    await closed;

    await open(() => Promise.resolve());
    const [results = "", last] = await subject.engine.getRun<string[]>(id).result();
    assertStringIncludes(results, "found");
    assertStringIncludes(results, "About Work");
    assertEquals(last, "About the end");
  },

  "a sub-agent continues in another process, as the run that called it": async (subject, id) => {
    const open = (tool: AgentTool) =>
      subject.openWith((engine) => {
        const child = engine.register("continued-child", async (steps, prompt: string) => {
          const streamFn = createModel(reply([toolCall("work")]), reply(`Report on ${prompt}`));
          const agent = durableAgent({ model: "test/model", streamFn, tools: [tool] }, steps);
          return (await agent.prompt(prompt)).text;
        });
        const research = workflowTool({
          name: "research",
          description: "Researches.",
          workflow: child,
        });
        return engine.register("continued-parent", async (steps, prompt: string) => {
          const call = toolCall("research", { prompt }, { id: "sub" });
          const streamFn = createModel(reply([call]), reply("Complete"));
          const agent = durableAgent({ model: "test/model", streamFn, tools: [research] }, steps);
          const { text, messages } = await agent.prompt("Work");
          return { text, messages };
        });
      });
    const first = new Process();
    const parent = await open(first.stuck("work", { sideEffect: "idempotent" }));
    await parent.start("Continue", { id });
    await waitUntil(() => first.effects.length === 1);
    const second = new Process();
    await open(second.tool("work", { sideEffect: "idempotent" }));
    const run = subject.engine.getRun<{ text: string; messages: unknown }>(id);
    const { text, messages } = await run.result();
    assertEquals(text, "Complete");
    assertStringIncludes(JSON.stringify(messages), "Report on Continue");
    assertEquals(await subject.engine.getRun(`${id}:sub`).status(), "completed");
    assertEquals(second.effects, ["work"]);
  },

  "a session has the messages of its runs, each once": async (subject, id) => {
    const store = new InMemorySessionStore();
    const model = createModel(reply("One"), reply("Two"), reply("Three"));
    const open = () =>
      subject.open("session", async (steps, prompt: string) => {
        const agent = durableAgent({ model: "test/model", streamFn: model }, steps);
        const session = await openDurableSession(agent, store, { id, steps, tenant: "acme" });
        const result = await agent.prompt(prompt);
        await session.save(result);
        await steps.publish({ type: "saved" });
        if (prompt === "Second") await steps.waitFor("end");
        return result.text;
      });
    const start = await open();
    assertEquals(await (await start("First", `${id} 1`)).result(), "One");
    await start("Second", `${id} 2`);
    await waitForEvent(subject, `${id} 2`, "saved");
    const restarted = await open();
    await subject.engine.getRun(`${id} 2`).signal("end");
    assertEquals(await subject.engine.getRun(`${id} 2`).result(), "Two");
    assertEquals(await (await restarted("Third", `${id} 3`)).result(), "Three");
    const session = await store.open(id, { access: "read" });
    const entries = await session.path({ types: ["message"] });
    assertEquals(session.header.tenant, "acme");
    assertEquals(entries.length, 6);
    const text = JSON.stringify(entries);
    const positions = ["First", "One", "Second", "Two", "Third", "Three"]
      .map((word) => text.indexOf(`"${word}"`));
    assert(positions.every((position, index) => position > (positions[index - 1] ?? -1)));
  },
};
