// Keep what was said, and go on with it in another process, another day, with another agent.

import { Agent } from "@swink/agent";
import { FileSessionStore, recordSession, resumeSession } from "@swink/agent/memory";
import { reply, scriptedStream } from "@swink/agent/testing";

const directory = await Deno.makeTempDir();
const store = new FileSessionStore({ directory });

const yesterday = new Agent({
  model: "example/scripted",
  streamFn: scriptedStream([reply("Noted.")]),
});
const recording = await recordSession(yesterday, store, { id: "shopping" });
await yesterday.prompt("We need milk");
await recording.stop();

const model = scriptedStream([reply("Milk.")]);
const today = new Agent({ model: "example/scripted", streamFn: model });
const session = await resumeSession(store, "shopping");
await using _again = await session.into(today);
await today.prompt("What do we need?");

console.log(`the model was sent ${model.calls[0]?.context.messages.length} messages`);
console.log(`the session has ${today.state.messages.length}`);

// Prints:
// the model was sent 3 messages
// the session has 4
