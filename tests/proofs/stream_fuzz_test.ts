import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { corruptBytes, createFaultyBody } from "../../src/testing/faulty_body.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { encodeEventStream } from "../adapters/bedrock_frames.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "../adapters/nine_providers.ts";
import { createMinimalRequest } from "../adapters/wire_tests.ts";
import { withDeadline } from "../deadline.ts";

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 5_000 : 50;
/** Runs a single seed, to reproduce a failure. */
const ONLY_SEED = Deno.env.get("SWINK_SEED");

/** Maximum size of the events of a reply as JSON, in characters per byte of the body; an error adds a message. */
const MAX_CHARACTERS_PER_BYTE = 64;
const MAX_ERROR_CHARACTERS = 10_000;

/** A recorded reply, divided into the events or lines of its body. */
type Recording = readonly string[];

/** Returns the recordings of an API; those of OpenAI have the API in their names. */
function loadRecordings({ name }: ProviderSubject): Recording[] {
  const [provider = "", api = "chat"] = name.split(" ");
  const directory = new URL(`../fixtures/${provider}/`, import.meta.url);
  const files = [...Deno.readDirSync(directory)].map((entry) => entry.name).toSorted();
  const other = api === "chat" ? /^responses_/ : /^chat_/;
  return files.filter((file) => !file.endsWith(".json") && !other.test(file)).map((file) => {
    const text = Deno.readTextFileSync(new URL(file, directory));
    const separator = file.endsWith(".sse") ? /(?<=\n\r?\n)/ : /(?<=\n)/;
    return text.split(separator).filter((part) => part.trim() !== "");
  });
}

/** Reorders, repeats, removes or splices events. */
function mutateEvents(events: Recording, other: Recording, random: () => number): Recording {
  const pick = (length: number) => Math.floor(random() * length);
  const [from, to] = [pick(events.length), pick(events.length)];
  switch (pick(6)) {
    case 0:
      return events.with(from, events[to] ?? "").with(to, events[from] ?? "");
    case 1:
      return events.toSpliced(from, 0, events[to] ?? "");
    case 2:
      return events.toSpliced(from, 1 + pick(3));
    case 3:
      return [...events.slice(0, from), ...other, ...events.slice(from)];
    case 4:
      return [...events, ...other];
    default:
      return events;
  }
}

function encodeBody({ name }: ProviderSubject, events: Recording): Uint8Array {
  if (name !== "bedrock") return new TextEncoder().encode(events.join(""));
  return encodeEventStream(events.map((event) => JSON.parse(event)));
}

/** Reads a mutated recording and checks the reply. */
async function fuzzOnce(
  subject: ProviderSubject,
  recordings: readonly Recording[],
  seed: number,
): Promise<void> {
  const random = seededRandom(seed);
  const pickRecording = () => recordings[Math.floor(random() * recordings.length)] ?? [];
  const events = mutateEvents(pickRecording(), pickRecording(), random);
  let bytes = encodeBody(subject, events);
  for (let changes = Math.floor(random() * 4); changes > 0 && bytes.length > 0; changes--) {
    bytes = corruptBytes(bytes, random);
  }
  const byteLimit = random() < 0.2 ? Math.floor(random() * bytes.length) : bytes.length;
  const chunkSizes = { seed, max: random() < 0.5 ? 8 : 4000 };
  const ending = random() < 0.1 ? "break" : "end";
  const { stream } = createFaultyBody(bytes, { chunkSizes, byteLimit, ending });
  const fetch = () => Promise.resolve(new Response(stream));
  const request = createMinimalRequest(subject.model.provider, subject.model.modelId);
  const reply = await readReply(subject.createStreamFn({ fetch })(request));
  checkReply(reply, bytes);
}

/** Checks what `readReply()` does not: the size of the reply and the completeness of its calls. */
function checkReply({ events, calls, stopReason }: CollectedReply, bytes: Uint8Array): void {
  assertEquals(events.filter(({ type }) => type === "done" || type === "error").length, 1);
  const limit = MAX_ERROR_CHARACTERS + MAX_CHARACTERS_PER_BYTE * bytes.length;
  assertLessOrEqual(JSON.stringify(events).length, limit);
  const hasTruncatedCall = calls.some(({ state }) => state === "truncated");
  assert(!hasTruncatedCall || stopReason !== "tool_use", "a truncated call must not run");
}

async function fuzz(subject: ProviderSubject, seeds: readonly number[]): Promise<void> {
  const recordings = loadRecordings(subject);
  assert(recordings.length > 0, "no recordings");
  for (const seed of seeds) {
    try {
      await fuzzOnce(subject, recordings, seed);
    } catch (cause) {
      throw new Error(`Seed ${seed} failed; reproduce it with SWINK_SEED=${seed}`, { cause });
    }
  }
}

const SEEDS = ONLY_SEED
  ? [Number(ONLY_SEED)]
  : Array.from({ length: RUNS }, (_, index) => index + 1);

for (const subject of NINE_PROVIDERS) {
  Deno.test(`${subject.name}: ${RUNS} damaged streams end with one terminal event`, async () => {
    await withDeadline(fuzz(subject, SEEDS));
  });
}
