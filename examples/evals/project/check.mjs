import { getValue, listOrders } from "./inventory.mjs";

const goods = [
  { name: "tea", price: 650, count: 12 },
  { name: "pot", price: 3900, count: 5 },
  { name: "cup", price: 900, count: 2 },
];

function check(name, actual, expected) {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${name}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

check("value", getValue(goods), 12 * 650 + 5 * 3900 + 2 * 900);
check("orders", listOrders(goods), ["cup"]);
console.log("ok");
