import { getValue, listOrders } from "./inventory.mjs";

/** Returns the report for the owner. */
export function createReport(goods) {
  return `Value: ${getValue(goods)}\nTo order: ${listOrders(goods).join(", ")}\n`;
}
