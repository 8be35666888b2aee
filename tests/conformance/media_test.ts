import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents } from "./outline.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const image: ContentBlock = { type: "image", source: { type: "file", path: "cat.png" } };
const pdf: ContentBlock = {
  type: "document",
  source: { type: "file", path: "a.pdf" },
  mediaType: "application/pdf",
  name: "Report",
};
const clip: ContentBlock = {
  type: "audio",
  source: { type: "file", path: "a.wav" },
  mediaType: "audio/wav",
};

const ask = (...content: ContentBlock[]) => ({ role: "user", content, timestamp: 0 }) as const;

/** A file system in memory that records its reads. */
function files(entries: Record<string, number[]>) {
  const read: string[] = [];
  return {
    entries,
    read,
    readFile: (path: string) => {
      read.push(path);
      const bytes = entries[path];
      return bytes
        ? Promise.resolve(new Uint8Array(bytes))
        : Promise.reject(new Error("no such file"));
    },
  };
}

Deno.test("media files: images, documents and audio are sent as base64, and the history keeps the files", async () => {
  const disk = files({ "cat.png": [1, 2, 3], "a.pdf": [4], "a.wav": [] });
  const { agent, streamFn } = testAgent([reply("Seen")], { readFile: disk.readFile });
  const prompt = ask(text("Look"), image, pdf, clip);
  await checkEvents(agent.promptStream(prompt));
  assertEquals(streamFn.calls[0]?.context.messages[0]?.content, [
    text("Look"),
    { type: "image", source: { type: "base64", mediaType: "image/png", data: "AQID" } },
    {
      type: "document",
      source: { type: "base64", data: "BA==" },
      mediaType: "application/pdf",
      name: "Report",
    },
    { type: "audio", source: { type: "base64", data: "" }, mediaType: "audio/wav" },
  ]);
  const [first] = agent.state.messages;
  assertEquals(first?.role === "user" && first.content, prompt.content);
});

Deno.test("media files: each block is read once, over turns, retries and runs", async () => {
  const disk = files({ "cat.png": [1], "a.pdf": [4] });
  const { agent, streamFn } = testAgent([
    fail("network_error", "Reset"),
    reply([toolCall("look")]),
    reply("A cat"),
    reply("Again"),
  ], {
    readFile: disk.readFile,
    ...scriptedPorts(new InstantClock()),
    tools: [fakeTool({ name: "look" })],
  });
  await agent.prompt(ask(text("Look"), image));
  await agent.prompt(ask(text("And this?"), pdf));
  assertEquals(disk.read, ["cat.png", "a.pdf"]);
  streamFn.assertDone();
});

Deno.test("media files: a file that is deleted later does not end the conversation, also after a restart", async () => {
  const disk = files({ "cat.png": [1] });
  const first = testAgent([reply("A cat")], { readFile: disk.readFile });
  await first.agent.prompt(ask(text("Look"), image));
  delete disk.entries["cat.png"];
  const restored = JSON.parse(JSON.stringify(first.agent.state.messages));
  const second = testAgent([reply("Still here")], { readFile: disk.readFile, messages: restored });
  const events = await checkEvents(second.agent.promptStream("Are you there?"));
  assertEquals(events.at(-1)?.type === "agent_end" && second.agent.state.error, undefined);
  assertEquals(second.streamFn.calls[0]?.context.messages[0]?.content, [
    text("Look"),
    text('[The image "cat.png" is no longer available.]'),
  ]);
  assertEquals(
    eventsOfType(events, "warning").map(({ code, message, data }) => [code, message, data]),
    [[
      "file_not_read",
      'A file of the history is not sent: Cannot read the image "cat.png": no such file',
      { path: "cat.png" },
    ]],
  );
});

for (const [kind, block] of [["image", image], ["document", pdf], ["audio", clip]] as const) {
  Deno.test(`media files: a prompt with a ${kind} that cannot be read ends in a bad_request, and no request is sent`, async () => {
    const { agent, streamFn } = testAgent([reply("Fine")], { readFile: files({}).readFile });
    const events = await checkEvents(agent.promptStream(ask(text("Look"), block)));
    assertEquals(outlineEvents(events).slice(-2), ["turn_end error", "agent_end"]);
    const { error } = agent.state;
    assertEquals(error?.code, "bad_request");
    assertStringIncludes(error?.message ?? "", `Cannot read the ${kind} "`);
    assertStringIncludes(error?.message ?? "", "no such file");
    assertEquals(streamFn.calls.length, 0);
    const { error: later } = await agent.prompt("Never mind");
    assertEquals(later, undefined);
  });

  Deno.test(`media files: without readFile, a ${kind} file is a bad_request that says what to pass`, async () => {
    const { agent, streamFn } = testAgent([]);
    const { error } = await agent.prompt(ask(text("Look"), block));
    assertEquals(error?.code, "bad_request");
    assertStringIncludes(error?.message ?? "", `pass \`readFile\`, or pass the ${kind} as base64`);
    streamFn.assertDone();
  });
}

Deno.test("media files: a file in a tool result is read, and one that is missing does not end the run", async () => {
  const disk = files({ "shot.png": [7] });
  const source = (path: string) => ({ type: "file", path }) as const;
  const { agent, streamFn } = testAgent([reply([toolCall("shoot")]), reply("Seen")], {
    readFile: disk.readFile,
    tools: [fakeTool({
      name: "shoot",
      result: {
        content: [
          { type: "image", source: source("shot.png") },
          { type: "image", source: source("gone.png") },
        ],
      },
    })],
  });
  const events = await checkEvents(agent.promptStream("Shoot"));
  assertEquals(streamFn.calls[1]?.context.messages[2]?.content, [
    { type: "image", source: { type: "base64", mediaType: "image/png", data: "Bw==" } },
    text('[The image "gone.png" is no longer available.]'),
  ]);
  assertEquals(eventsOfType(events, "warning").map(({ code }) => code), ["file_not_read"]);
});

Deno.test("media files: blocks with other sources are sent unchanged, and nothing is read", async () => {
  const disk = files({});
  const blocks: ContentBlock[] = [
    { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
    { type: "document", source: { type: "base64", data: "BA==" }, mediaType: "application/pdf" },
    {
      type: "audio",
      source: { type: "url", url: "https://example.com/a.wav" },
      mediaType: "audio/wav",
    },
  ];
  const { agent, streamFn } = testAgent([reply("Seen")], { readFile: disk.readFile });
  await agent.prompt(ask(text("Look"), ...blocks));
  assertEquals(streamFn.calls[0]?.context.messages[0]?.content, [text("Look"), ...blocks]);
  assertEquals(disk.read, []);
});

Deno.test("media files: are not read when a policy stops the run before the request", async () => {
  const disk = files({ "cat.png": [1] });
  const { agent } = testAgent([], {
    readFile: disk.readFile,
    policies: [{ name: "halt", preTurn: () => ({ type: "stop", reason: "no" }) }],
  });
  await agent.prompt([userMessage("Look", 0), ask(image)]);
  assertEquals(disk.read, []);
});

Deno.test("media files: the type of an image is that of its content, and an unknown one is a bad_request", async () => {
  const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
  const { readFile } = files({ "/tmp/v1.2/upload": png, "photo.jpg": png, "/tmp/v1.2/other": [7] });
  const { agent, streamFn } = testAgent([reply("Seen"), reply("Never")], { readFile });
  const createImage = (path: string) =>
    ({ type: "image", source: { type: "file", path } }) as const;
  await agent.prompt(ask(createImage("/tmp/v1.2/upload"), createImage("photo.jpg")));
  const source = { type: "base64", mediaType: "image/png", data: "iVBORw0KGgo=" };
  assertEquals(streamFn.calls[0]?.context.messages[0]?.content as unknown, [
    { type: "image", source },
    { type: "image", source },
  ]);
  const { error } = await agent.prompt(ask(createImage("/tmp/v1.2/other")));
  assertEquals([error?.code, streamFn.calls.length], ["bad_request", 1]);
  assertStringIncludes(error?.message ?? "", "pass the mediaType of its source");
});
