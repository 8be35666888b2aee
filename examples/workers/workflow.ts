// The workflow of the workers: an agent that takes three notes, one after the other.

import { defineTool } from "@swink/agent";
import { durableAgent, type WorkflowFunction } from "@swink/agent/durable";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const NOTES = 3;

/** Creates the workflow; `directory` has the file of the notes. */
export function createWorkflow(directory: string): WorkflowFunction<string, string> {
  const note = defineTool({
    name: "note",
    description: "Takes a note; never executed twice.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    sideEffect: "once",
    execute: async ({ text }, { runId }) => {
      await new Promise((resolve) => setTimeout(resolve, 100)); // The time of a real tool.
      await Deno.writeTextFile(`${directory}/notes.txt`, `${runId} ${text}\n`, { append: true });
      return "noted";
    },
  });
  return async (steps, prompt) => {
    const agent = durableAgent({
      model: "example/model",
      // A real model needs no streamFn: { model: "anthropic/claude-sonnet-5-5" }.
      streamFn: (request) => {
        const taken = request.context.messages.filter(({ role }) => role === "assistant").length;
        const answer = taken < NOTES
          ? reply([toolCall("note", { text: `note ${taken + 1}` }, { id: `note-${taken + 1}` })])
          : reply(`${NOTES} notes on: ${prompt}`);
        return scriptedStream([answer])(request);
      },
      tools: [note],
    }, steps);
    return (await agent.prompt(prompt)).text;
  };
}
