/**
 * Recorded streams of providers, in the directory that `SWINK_WIRE_FIXTURES` names; not part of the project.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import { isJsonEqual } from "../../src/core/json/json_equal.ts";
import type { ChunkSizes } from "../../src/testing/faulty_body.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";

/** The content of a stream as the provider's own client reads it, in the provider's terms. */
export interface GroundTruth {
  readonly text: string;
  readonly thinking: string;
  readonly toolCalls: readonly {
    readonly id: string | null;
    readonly name: string;
    readonly args: JsonObject;
  }[];
  readonly stopReason: string | null;
  readonly usage: Readonly<Record<string, number>>;
  readonly usageRaw?: JsonObject | null;
  readonly thinkingSignatures?: readonly string[];
  readonly error: JsonObject | null;
  readonly outcome: string;
}

/** A recorded stream. */
export interface WireFixture {
  /** `group/name` */
  readonly name: string;
  readonly wire: string;
  readonly model: string;
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly truth: GroundTruth;
}

/** A recorded error response. */
export interface WireErrorResponse {
  readonly name: string;
  readonly provider: string;
  readonly status: number;
  readonly kind: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the directory of the recordings, or `undefined` when it is not set. */
export function getFixtureDirectory(): string | undefined {
  const directory = Deno.env.get("SWINK_WIRE_FIXTURES");
  if (directory === undefined || directory === "") return undefined;
  const dev = `${directory}/dev`;
  return exists(dev) ? dev : directory;
}

/** Whether recordings are read in all chunk sizes rather than a sample. */
export const IS_EXHAUSTIVE = Deno.env.get("SWINK_PROVE") === "1";

/** Loads all streams of a group; none without recordings. */
export function loadWireFixtures(group: string): WireFixture[] {
  const directory = getFixtureDirectory();
  if (directory === undefined || !exists(`${directory}/${group}`)) return [];
  const names = [...Deno.readDirSync(`${directory}/${group}`)].map(({ name }) => name);
  return names.filter((name) => name.endsWith(".expect.json")).sort().map((name) =>
    readFixture(`${directory}/${group}`, group, name)
  );
}

/** Loads all error responses of some providers; none without recordings. */
export function loadWireErrors(providers: readonly string[]): WireErrorResponse[] {
  const directory = getFixtureDirectory();
  if (directory === undefined) return [];
  const names = [...Deno.readDirSync(`${directory}/errors`)].map(({ name }) => name).sort();
  return names.map((name) => JSON.parse(Deno.readTextFileSync(`${directory}/errors/${name}`)))
    .filter(
      ({ provider }) => providers.includes(provider),
    );
}

/** Returns the chunk sizes to read a recording in: all of them if exhaustive, else one chunk and a random choice. */
export function selectChunkSizes(fixture: WireFixture): ChunkSizes[] {
  const sizes: ChunkSizes[] = [1, { seed: 1, max: 9 }, { seed: 2, max: 100 }, {
    seed: 3,
    max: 3000,
  }];
  if (IS_EXHAUSTIVE) return [Infinity, ...sizes];
  const random = seededRandom(fixture.bytes.length)();
  return [Infinity, sizes[Math.floor(random * sizes.length)] ?? 1];
}

/** Compares as JSON, with the members of objects in any order. */
export function isSameValue(left: unknown, right: unknown): boolean {
  return isJsonEqual(sortMembers(left), sortMembers(right));
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortMembers(member)]));
}

function readFixture(directory: string, group: string, name: string): WireFixture {
  const expect = JSON.parse(Deno.readTextFileSync(`${directory}/${name}`));
  return {
    name: `${group}/${name.replace(".expect.json", "")}`,
    wire: expect.wire,
    model: expect.model ?? "unknown",
    contentType: expect.http?.contentType ?? "text/event-stream",
    bytes: Deno.readFileSync(`${directory}/${expect.body}`),
    truth: expect.groundTruth,
  };
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
