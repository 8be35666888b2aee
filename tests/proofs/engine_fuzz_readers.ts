/**
 * Random readers of the events of a run.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { findFailure } from "../../src/agent/agent_result.ts";
import type { AgentStream } from "../../src/agent/agent_stream.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import type { FuzzEnvironment } from "./engine_fuzz_environment.ts";

/** Reads a run in a random way. Returns its events, or `undefined` if it did not read all of them. */
export async function readRandomly(
  stream: AgentStream,
  environment: FuzzEnvironment,
): Promise<readonly AgentEvent[] | undefined> {
  const { random } = environment;
  return await random.create<Promise<readonly AgentEvent[] | undefined>>([
    () => readWithIterator(stream, environment),
    () => readWithIterator(stream, environment),
    () => readWithReader(stream, environment),
    () => readText(stream),
    () => stream.result().then(() => undefined),
    () => readResponse(stream, environment),
  ]);
}

async function readWithIterator(
  stream: ReadableStream<AgentEvent>,
  environment: FuzzEnvironment,
): Promise<readonly AgentEvent[] | undefined> {
  const stopAfter = randomLimit(environment);
  const pause = createPause(environment);
  const events: AgentEvent[] = [];
  for await (const event of stream) {
    if (events.push(event) > stopAfter) return undefined;
    await pause();
  }
  return events;
}

async function readWithReader(
  stream: ReadableStream<AgentEvent>,
  environment: FuzzEnvironment,
): Promise<readonly AgentEvent[] | undefined> {
  const stopAfter = randomLimit(environment);
  const pause = createPause(environment);
  const events: AgentEvent[] = [];
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (events.push(read.value) > stopAfter) {
      await reader.cancel("stop early");
      return undefined;
    }
    await pause();
  }
  return events;
}

async function readResponse(
  stream: AgentStream,
  environment: FuzzEnvironment,
): Promise<undefined> {
  const format = environment.random.oneOf(["sse", "ndjson", "text"] as const);
  // A listener that changes events changes how many chunks of text there are.
  const stopAfter = format === "text" ? Infinity : randomLimit(environment);
  let count = 0;
  const { body } = stream.toResponse({ format });
  const reading = (async () => {
    for await (const _chunk of body ?? []) if (++count > stopAfter) return;
    return "complete";
  })();
  const [read] = await Promise.allSettled([reading]);
  const isCutOff = read.status === "fulfilled" && read.value === undefined;
  if (!isCutOff) await assertFails(stream, read, format === "text");
}

async function readText(stream: AgentStream): Promise<undefined> {
  const [text] = await Promise.allSettled([stream.text()]);
  await assertFails(stream, text, true);
}

/** Asserts that a read rejects if and only if the run failed, and the read reports failures. */
async function assertFails(
  stream: AgentStream,
  { status }: PromiseSettledResult<unknown>,
  reportsFailures: boolean,
): Promise<void> {
  const hasFailed = findFailure(await stream.result()) !== undefined;
  assertEquals(status, hasFailed && reportsFailures ? "rejected" : "fulfilled");
}

function randomLimit({ random, isWellBehaved }: FuzzEnvironment): number {
  return !isWellBehaved && random.chance(0.1) ? random.integer(20) : Infinity;
}

/** Returns a function that sometimes waits, if the reader is slow. */
function createPause({ random, toolClock }: FuzzEnvironment): () => Promise<void> {
  const isSlow = random.chance(0.2);
  return async () => {
    if (isSlow && random.chance(0.2)) await toolClock.sleep(random.integer(30));
  };
}
