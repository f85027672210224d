export interface Example {
  name: string;
  language: string;
  code: string;
  stdin?: string;
}

export const examples: Example[] = [
  {
    name: "Hello",
    language: "python",
    code: `import sys

print("Hello from Python", sys.version.split()[0])
print("and something for standard error", file=sys.stderr)
{"answer": 42, "list": [1, 2, 3]}
`,
  },
  {
    name: "Live output",
    language: "python",
    code: `import time

for i in range(101):
    print(f"\\r\\033[36m{'█' * (i // 4):<25}\\033[0m {i:3d} %", end="", flush=True)
    time.sleep(0.03)
print("\\ndone")
`,
  },
  {
    name: "A plot",
    language: "python",
    code: `import numpy as np
import matplotlib.pyplot as plt

x = np.linspace(0, 4 * np.pi, 400)
plt.figure(figsize=(7, 3))
plt.plot(x, np.sin(x), label="sin")
plt.plot(x, np.cos(x), label="cos")
plt.legend()
plt.show()
`,
  },
  {
    name: "Standard input",
    language: "python",
    code: `total = 0
try:
    while True:
        total += int(input())
except EOFError:
    print("sum:", total)
`,
    stdin: "1\n2\n39\n",
  },
  {
    name: "JavaScript",
    language: "javascript",
    code: `const squares = Array.from({ length: 5 }, (_, i) => i ** 2);
console.log("squares:", squares);
await new Promise((done) => setTimeout(done, 300));
({ node: process.version, squares })
`,
  },
  {
    name: "Shell",
    language: "bash",
    code: `uname -sr
df -h /workspace | tail -1
for i in 1 2 3; do echo "line $i"; sleep 0.3; done
`,
  },
];
