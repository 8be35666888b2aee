/**
 * The commands that list and continue saved sessions.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { type PlainConversationOptions, typeConversation } from "./plain_conversation.ts";

const HELLO = [scriptedReply("Hello!")];

/** Types lines before `/quit`. */
function type(
  typed: PlainConversationOptions["typed"],
  options: Omit<PlainConversationOptions, "typed"> = {},
) {
  return typeConversation({ ...options, typed: [...typed, "/quit"] });
}

Deno.test("#sessions, /resume: list the sessions of the directory, and continue one", async () => {
  await using first = await type(["First"], { model: HELLO });
  const { home } = first;
  await using second = await type(["#sessions", "/resume 1", "Next"], { home, model: HELLO });
  assertMatch(second.outputs[0] ?? "", /^1 {2}SESSION {2}now {2}2 messages .*First\n/);
  assertEquals(second.outputs[1], "you: First\nassistant: Hello!\n");
  assertEquals(second.requests[0]?.messages.length, 3);
});

Deno.test("#sessions: finds words; /resume: asks which, and reports one that does not exist", async () => {
  await using first = await type(["About pears", "/reset", "About plums"], {
    model: [...HELLO, ...HELLO],
  });
  const { home } = first;
  await using second = await type(["#sessions pears", "/resume nothing", "/resume"], { home });
  assertMatch(
    second.outputs[0] ?? "",
    /^SESSION .*About pears\n\/resume ID or WORDS continues one\n$/,
  );
  assertMatch(second.outputs[2] ?? "", /^1 {2}SESSION .*About plums\n2 {2}SESSION .*\n/);
  assertStringIncludes(second.outputs[1] ?? "", 'There is no session "nothing"');
  await using third = await typeConversation({
    home,
    model: HELLO,
    typed: ["/resume", "2", "Next", "/quit"],
  });
  assertStringIncludes(
    third.transcript,
    "Number, id or words: 2\nyou: About pears\nassistant: Hello!\n> Next\n",
  );
});

Deno.test("/resume: finds words in titles and texts, and asks which session", async () => {
  await using first = await type(
    ["About pears", "/reset", "About plums", "#save Fruit trees", "/reset", "About cars"],
    { model: [...HELLO, ...HELLO, scriptedReply("They need fruit.")] },
  );
  const { home } = first;
  await using second = await typeConversation({
    home,
    model: HELLO,
    typed: ["/resume fruit", "2", "Next", "/quit"],
  });
  assertMatch(
    second.outputs[0] ?? "",
    /^1 {2}SESSION .*About cars\n2 {2}SESSION .*Fruit trees\n$/,
  );
  assertEquals(second.requests[0]?.messages.length, 3);
  assertStringIncludes(JSON.stringify(second.requests[0]?.messages), "About plums");
  await using third = await typeConversation({
    home,
    typed: ["/resume", "bananas", "20", "pea", "1", "/resume", "", "/resume bananas", "/quit"],
  });
  const { outputs } = third;
  const missing = "No session of this directory has this number, id or words\n";
  for (const output of outputs.slice(1, 3)) assertStringIncludes(output, missing);
  assertMatch(outputs[3] ?? "", /^1 {2}SESSION .*About pears\n$/);
  assertEquals(outputs[4], "you: About pears\nassistant: Hello!\n");
  assertEquals(outputs[6], "");
  assertStringIncludes(outputs[7] ?? "", 'There is no session "bananas", and none of this');
});

Deno.test("/resume: a number is that of the list that was shown last, whatever was saved since", async () => {
  await using first = await type(["About pears", "/reset", "About plums", "/reset", "About cars"], {
    model: [...HELLO, ...HELLO, ...HELLO],
  });
  const { home } = first;
  await using second = await typeConversation({
    home,
    model: HELLO,
    typed: ["#sessions", "Next", "/resume 2", "/resume pears", "", "/resume 1", "/quit"],
  });
  assertMatch(second.outputs[0] ?? "", /^1 {2}SESSION .*About cars\n2 {2}SESSION .*About plums\n/);
  assertEquals(second.outputs[2], "you: About plums\nassistant: Hello!\n");
  assertEquals(second.outputs[5], "you: About pears\nassistant: Hello!\n");
});

Deno.test("/resume: the beginning of an id precedes words", async () => {
  await using first = await type(["About the talks"], {
    args: ["--session-id", "first"],
    model: HELLO,
  });
  const { home } = first;
  const args = ["--session-id", "talk"];
  await using _second = await type(["About cars"], { home, args, model: HELLO });
  await using third = await type(["/resume tal"], { home });
  assertEquals(third.outputs[0], "you: About cars\nassistant: Hello!\n");
});

Deno.test("#sessions, /resume: count the sessions that cannot be opened", async () => {
  await using conversation = await typeConversation({
    files: { ".local/state/swink/sessions/broken.jsonl": "no session\n" },
    typed: ["#sessions", "/resume", "/quit"],
  });
  assert(!conversation.transcript.includes("Number, id or words"), conversation.transcript);
  const notice = "1 session cannot be opened: swink sessions list --all\n";
  assertEquals(conversation.outputs.slice(0, 2), [
    `No session found\n${notice}`,
    `No session of this directory is saved\n${notice}`,
  ]);
});
