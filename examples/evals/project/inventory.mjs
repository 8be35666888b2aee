/** Goods of which fewer are left must be ordered. */
export const ORDER_BELOW = 5;

/** Returns the value of all goods, in cents. */
export function getValue(goods) {
  return goods.reduce((sum, { price, count }) => sum + price + count, 0);
}

/** Returns the names of the goods that must be ordered. */
export function listOrders(goods) {
  return goods.filter(({ count }) => count <= ORDER_BELOW).map(({ name }) => name);
}
