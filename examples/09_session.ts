// Records a conversation in a session and resumes it with another agent, as after a restart.

import { Agent } from "@swink/agent";
import { FileSessionStore, recordSession, resumeSession } from "@swink/agent/memory";
import { reply, scriptedStream } from "@swink/agent/testing";

const directory = await Deno.makeTempDir();
const store = new FileSessionStore({ directory });

const first = new Agent({
  model: "example/scripted",
  streamFn: scriptedStream([reply("Noted.")]),
});
const recording = await recordSession(first, store, { id: "shopping" });
await first.prompt("We need milk");
await recording.stop();

const streamFn = scriptedStream([reply("Milk.")]);
const second = new Agent({ model: "example/scripted", streamFn });
const session = await resumeSession(store, "shopping");
await using _recording = await session.into(second);
await second.prompt("What do we need?");

console.log(`${streamFn.calls[0]?.context.messages.length} messages in the request`);
console.log(`${second.state.messages.length} messages in the session`);

// Prints:
// 3 messages in the request
// 4 messages in the session
