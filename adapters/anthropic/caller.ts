/**
 * Callers of tools. Claude calls most tools directly, and some from the code that it executes or as parts of a toolset.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";

/** Returns the fields of a call that name its caller, as the signature of the call; `undefined` for a direct call. */
export function toCallSignature(call: JsonObject): string | undefined {
  const fields = pickFields(call);
  return Object.keys(fields).length > 0 ? JSON.stringify(fields) : undefined;
}

/** Returns the fields of a call from its signature. */
export function parseCallSignature(signature: string | undefined): JsonObject {
  if (!signature) return {};
  try {
    const call: unknown = JSON.parse(signature);
    return isJsonObject(call) ? pickFields(call) : {};
  } catch {
    return {};
  }
}

/** Whether a text is the signature of a call, with a valid caller if it names one. */
export function isCallSignature(signature: string, isCaller: (value: unknown) => boolean): boolean {
  const { caller, ...others } = parseCallSignature(signature);
  return caller === undefined ? Object.keys(others).length > 0 : isCaller(caller);
}

/** Returns the id of the call of a server tool whose code made a call; `undefined` for a direct call. */
export function getCallerId({ caller }: JsonObject): string | undefined {
  const id = isJsonObject(caller) ? caller["tool_id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

function pickFields({ caller, toolset_name }: JsonObject): JsonObject {
  return {
    ...(isJsonObject(caller) && caller["type"] !== "direct" && { caller }),
    ...(typeof toolset_name === "string" && { toolset_name }),
  };
}
