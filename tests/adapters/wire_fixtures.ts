/**
 * Recorded provider streams: read from the folder that `SWINK_WIRE_FIXTURES` names, never kept in the project.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import { isJsonEqual } from "../../src/testing/json_equal.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import type { ChunkSizes } from "../../src/testing/faulty_body.ts";

/** What a correct reader makes of a stream, in the provider's own words. */
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

/** A recorded refusal. */
export interface WireRefusal {
  readonly name: string;
  readonly provider: string;
  readonly status: number;
  readonly kind: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where the recordings are; `undefined` when nobody said. */
export function getFixtureDirectory(): string | undefined {
  const folder = Deno.env.get("SWINK_WIRE_FIXTURES");
  if (folder === undefined || folder === "") return undefined;
  const dev = `${folder}/dev`;
  return exists(dev) ? dev : folder;
}

/** Whether everything is read in every way, and not a sample of it. */
export const IS_EXHAUSTIVE = Deno.env.get("SWINK_PROVE") === "1";

/** All streams of a group; none when there are no recordings. */
export function loadWireFixtures(group: string): WireFixture[] {
  const folder = getFixtureDirectory();
  if (folder === undefined || !exists(`${folder}/${group}`)) return [];
  const names = [...Deno.readDirSync(`${folder}/${group}`)].map(({ name }) => name);
  return names.filter((name) => name.endsWith(".expect.json")).sort().map((name) =>
    readFixture(`${folder}/${group}`, group, name)
  );
}

/** All refusals of a provider; none when there are no recordings. */
export function loadWireRefusals(providers: readonly string[]): WireRefusal[] {
  const folder = getFixtureDirectory();
  if (folder === undefined) return [];
  const names = [...Deno.readDirSync(`${folder}/errors`)].map(({ name }) => name).sort();
  return names.map((name) => JSON.parse(Deno.readTextFileSync(`${folder}/errors/${name}`))).filter(
    ({ provider }) => providers.includes(provider),
  );
}

/** The ways in which a recording is cut into pieces: all of them to prove, else whole and one by chance. */
export function selectPieceSizes(fixture: WireFixture): ChunkSizes[] {
  const ways: ChunkSizes[] = [1, { seed: 1, max: 9 }, { seed: 2, max: 100 }, {
    seed: 3,
    max: 3000,
  }];
  if (IS_EXHAUSTIVE) return [Infinity, ...ways];
  const chance = seededRandom(fixture.bytes.length)();
  return [Infinity, ways[Math.floor(chance * ways.length)] ?? 1];
}

/** Compares as JSON, with the members of objects in any order. */
export function isSameValue(left: unknown, right: unknown): boolean {
  return isJsonEqual(sortMembers(left), sortMembers(right));
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortMembers(member)]));
}

function readFixture(folder: string, group: string, name: string): WireFixture {
  const expect = JSON.parse(Deno.readTextFileSync(`${folder}/${name}`));
  return {
    name: `${group}/${name.replace(".expect.json", "")}`,
    wire: expect.wire,
    model: expect.model ?? "unknown",
    contentType: expect.http?.contentType ?? "text/event-stream",
    bytes: Deno.readFileSync(`${folder}/${expect.body}`),
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
