/**
 * Converts any value to JSON, since the details of tool results are not restricted to JSON values.
 *
 * @module
 */

/** Converts a value to JSON. Never throws: values that JSON cannot represent become text or `null`. */
export function safeStringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return stringifyInSteps(value);
  }
}

type Step =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "end"; readonly container: object; readonly text: string };

/**
 * Converts a value that `JSON.stringify()` refuses: bigints become text, cycles and unreadable objects are replaced by a
 * placeholder. It does not recurse, since Node 20 refuses values that are nested some thousand levels deep.
 */
function stringifyInSteps(root: unknown): string {
  const ancestors = new Set<object>();
  const steps: Step[] = [{ type: "value", value: root }];
  let json = "";
  for (let step = steps.pop(); step; step = steps.pop()) {
    if (step.type === "text") json += step.text;
    else if (step.type === "end") {
      ancestors.delete(step.container);
      json += step.text;
    } else if (typeof step.value !== "object" || step.value === null) {
      json += stringifyPrimitive(step.value);
    } else if (ancestors.has(step.value)) json += '"[circular]"';
    else {
      ancestors.add(step.value);
      for (const next of splitContainer(step.value).reverse()) steps.push(next);
    }
  }
  return json;
}

function stringifyPrimitive(value: unknown): string {
  return JSON.stringify(typeof value === "bigint" ? value.toString() : value) ?? "null";
}

/** Returns the steps that convert an array or object. */
function splitContainer(container: object): Step[] {
  const isArray = Array.isArray(container);
  const steps: Step[] = [{ type: "text", text: isArray ? "[" : "{" }];
  try {
    const entries = isArray ? container.entries() : Object.entries(container).filter(isMember);
    for (const [key, value] of entries) {
      const name = isArray ? "" : `${JSON.stringify(key)}:`;
      steps.push({ type: "text", text: steps.length > 1 ? `,${name}` : name });
      steps.push({ type: "value", value });
    }
  } catch {
    return [{ type: "end", container, text: '"[unreadable]"' }];
  }
  steps.push({ type: "end", container, text: isArray ? "]" : "}" });
  return steps;
}

/** Whether JSON contains a member, which it does not if its value is one of these. */
function isMember([, value]: readonly [key: string, value: unknown]): boolean {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}
