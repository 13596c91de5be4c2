// The policy by which administrators let the pages of an origin reach models on the machines of their people, unasked.

/** Returns the policy for Chrome and Edge: newer versions read the first name, older ones the second. */
export function browserPolicy(origin: string): string {
  return JSON.stringify({ LoopbackNetworkAllowedForUrls: [origin], LocalNetworkAccessAllowedForUrls: [origin] }, null, 2);
}
