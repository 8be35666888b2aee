/**
 * Loading of the code of runs before the first one.
 *
 * @module
 */

/**
 * Loads the code that the first run would load otherwise, which takes about 10 ms; for servers and other programs that are
 * started before their first prompt. Does nothing when it is loaded.
 *
 * @example
 * ```ts
 * import { Agent, preload } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * await preload();
 *
 * async function answer(question: string): Promise<string> {
 *   const streamFn = scriptedStream([reply("Hello")]);
 *   const agent = new Agent({ model: "test/model", streamFn });
 *   return (await agent.prompt(question)).text;
 * }
 * await answer("Greet me"); // "Hello"
 * ```
 */
export async function preload(): Promise<void> {
  await import("./run_code.ts");
}
