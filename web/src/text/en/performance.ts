// Words of the load of a device over time.

export const performance = {
  periods: 'Period',
  period: { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' },
  readings: {
    cpu_percent: 'CPU',
    memory_used_bytes: 'Memory',
    disk_used_bytes: 'Disk',
    gpu_percent: 'GPU',
    gpu_memory_used_bytes: 'GPU memory',
    temperature_celsius: 'CPU temperature',
    gpu_temperature_celsius: 'GPU temperature',
  },
  summary: (name: string, average: string, size: string | null, most: string, when: string) =>
    `${name}: ${average}${size === null ? '' : ` of ${size}`} on average, at most ${most} at ${when}.`,
  celsius: (degrees: number) => `${degrees} °C`,
  average: 'Average',
  lowest: 'Lowest',
  highest: 'Highest',
  range: 'Lowest to highest',
  away: 'No sample',
  awayFor: (time: string) => `The device sent no samples for ${time} of this period. The lines have gaps there.`,
  whole: 'The device sent samples through the whole period.',
  live: { '1h': 'Updated every 30 seconds.', '24h': 'Updated every 3 minutes.', '7d': 'Updated every 30 minutes.', '30d': 'Updated every 90 minutes.' },
  offline: 'The device is offline. The charts end with its last sample.',
  nothingTitle: 'No samples in this period',
  nothing: 'A connected device sends a sample each minute. Choose a longer period to see older samples.',
  nothingEver: 'A connected device sends a sample each minute. Samples are kept for 30 days.',
  failedTitle: 'The load of the device could not be loaded',
} as const;
