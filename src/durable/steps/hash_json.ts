/**
 * Hashes that detect different inputs of a step.
 *
 * @module
 */

/**
 * Returns a hash of a JSON value, 53 bits as text: cyrb53 (public domain). It detects changes of the code, not attacks.
 */
export function hashJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}
