#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Record the waits of real CUDA programs on a machine with an NVIDIA GPU.

  record.py DIRECTORY [PROGRAM]...

Runs each program for a few seconds under the probe of build/libjetwatt.so.1, and
writes its waits, and the times at which the program itself had finished its
minibatches, to DIRECTORY/PROGRAM, in the format that README describes. Needs root, a
kernel with BPF and uprobes, and the Python packages of the programs.
"""
import ctypes
import os
import subprocess
import sys
import time

SECONDS = 5
WARM_UP = 12
CALLS = {0: "pollfd", 1: "syncpt", 2: "stream", 3: "event", 4: "context", 7: "helper", 8: "copy",
         9: "query", 10: "callback"}


class Finished(Exception):
    pass


class Clock:
    """The times at which the program has finished its minibatches."""

    def __init__(self, path):
        self.path, self.ends, self.skip = path, [], WARM_UP

    def end(self, kind=""):
        """The program has finished a minibatch of this kind; the first ones are warm-up."""
        if self.skip:
            self.skip -= 1
        else:
            self.ends.append((time.monotonic_ns(), kind))
        if self.ends and self.ends[-1][0] - self.ends[0][0] > SECONDS * 1e9:
            raise Finished

    def write(self):
        with open(self.path, "w", encoding="ascii") as f:
            f.writelines("%d %s\n" % end for end in self.ends)


def resnet():
    import torch
    import torchvision
    model = torchvision.models.resnet50().to("cuda", memory_format=torch.channels_last)
    return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def images():
    import torch

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return 100000

        def __getitem__(self, i):
            return torch.randn(3, 224, 224), i % 1000
    return torch.utils.data.DataLoader(Images(), batch_size=64, num_workers=3, pin_memory=True)


def pytorch_dataloader(clock):
    """ResNet-50, bf16 autocast, DataLoader with 3 workers and pinned memory, loss.item() in each step"""
    import torch
    model, optimizer = resnet()
    for x, y in images():
        x, y = x.to("cuda", non_blocking=True), y.to("cuda", non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
        clock.end()


def pytorch_fp16(clock):
    """ResNet-50, fp16 autocast, GradScaler, clip_grad_norm_(), loss.item() in each step"""
    import torch
    model, optimizer = resnet()
    x = torch.randn(64, 3, 224, 224, device="cuda").contiguous(memory_format=torch.channels_last)
    y, scaler = torch.arange(64, device="cuda"), torch.amp.GradScaler("cuda")
    while True:
        with torch.autocast("cuda", torch.float16):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        loss.item()
        clock.end()


def gpt2(clock, layers=12, compiled=False, evaluate=0):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(n_layer=layers)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    forward = torch.compile(model, mode="reduce-overhead") if compiled else model
    tokens = torch.randint(0, 50000, (4, 1024))
    steps = 0
    while True:
        x = tokens.to("cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = forward(x, labels=x).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        clock.end()
        steps += 1
        if evaluate and steps % evaluate == 0:
            with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
                for _ in range(8):
                    model(tokens.to("cuda"), labels=tokens.to("cuda")).loss.item()
            torch.save(model.state_dict(), clock.path + ".pt")
            os.unlink(clock.path + ".pt")


def pytorch_gpt2(clock):
    """GPT-2, bf16 autocast, clip_grad_norm_(), loss.item() in each step"""
    gpt2(clock)


def pytorch_evaluation(clock):
    """as pytorch-gpt2; every 25 steps an evaluation of 8 minibatches and torch.save() of the model"""
    gpt2(clock, evaluate=25)


def pytorch_compile(clock):
    """GPT-2 of 4 layers, torch.compile(mode="reduce-overhead"), clip_grad_norm_(), loss.item() in each step"""
    gpt2(clock, layers=4, compiled=True)


def pytorch_pipelined(clock):
    """ResNet-50 inference; waits for the event of request n after request n + 1 is queued"""
    import torch
    model = resnet()[0].eval().half()
    x, queue = torch.randn(128, 3, 224, 224).half().pin_memory(), []
    while True:
        with torch.no_grad():
            y = model(x.to("cuda", non_blocking=True)).argmax(1).to("cpu", non_blocking=True)
        done = torch.cuda.Event()
        done.record()
        queue.append((y, done))
        if len(queue) > 1:
            queue.pop(0)[1].synchronize()
            clock.end()


def llama():
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    config = LlamaConfig(hidden_size=2048, intermediate_size=6144, num_hidden_layers=16,
                         num_attention_heads=32, num_key_value_heads=8, vocab_size=32000,
                         eos_token_id=None, pad_token_id=0)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config).to(torch.bfloat16)
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    return model.eval()


def transformers_generate(clock):
    """Llama of 16 layers, generate() with a streamer: one minibatch per token"""
    import torch
    model = llama()

    class Streamer:
        def put(self, _):
            clock.end()

        def end(self):
            pass
    while True:
        prompt = torch.randint(5, 30000, (1, 128), device="cuda")
        model.generate(prompt, max_new_tokens=64, do_sample=False, streamer=Streamer())


def llm_batching(clock):
    """the same Llama, continuous batching of transformers, 6 requests at a time: one minibatch per step"""
    import random
    from transformers import GenerationConfig
    model = llama()
    model.set_attn_implementation("paged|sdpa")
    forward, failed = model.forward, []

    def step(*args, **kwargs):
        result = forward(*args, **kwargs)
        try:
            clock.end()
        except Finished:
            failed.append(True)
        return result
    model.forward = step
    manager = model.init_continuous_batching(generation_config=GenerationConfig(
        max_new_tokens=48, eos_token_id=-1, pad_token_id=0, do_sample=False))
    manager.start()
    asked = 0
    while not failed:
        if asked < 6 or manager.get_result(timeout=0.2):
            manager.add_request([random.randint(5, 30000) for _ in range(random.randint(16, 300))],
                                max_new_tokens=random.randint(16, 64))
            asked += 1
    raise Finished


def transformers_trainer(clock):
    """GPT-2, Trainer of transformers, bf16, logs every 20 steps"""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return 100000

        def __getitem__(self, i):
            tokens = torch.randint(0, 50000, (1024,))
            return {"input_ids": tokens, "labels": tokens}

    class Steps(TrainerCallback):
        def on_step_end(self, *_, **__):
            clock.end()
    args = TrainingArguments(output_dir=clock.path + ".d", per_device_train_batch_size=4, bf16=True,
                             max_steps=100000, save_strategy="no", report_to=[], disable_tqdm=True,
                             dataloader_num_workers=2, logging_steps=20)
    Trainer(model=GPT2LMHeadModel(GPT2Config()), args=args, train_dataset=Tokens(),
            callbacks=[Steps()]).train()


def transformers_assisted(clock):
    """Llama of 16 layers, generate() with prompt lookup: one minibatch per forward pass"""
    import torch
    model = llama()
    forward = model.forward

    def step(*args, **kwargs):
        result = forward(*args, **kwargs)
        clock.end()
        return result
    model.forward = step
    while True:
        prompt = torch.randint(5, 400, (1, 64), device="cuda").repeat(1, 4)
        model.generate(prompt, max_new_tokens=64, do_sample=False, prompt_lookup_num_tokens=4)


class Decoder:
    """A language model with a static cache of keys and values."""

    def __init__(self, layers=20, width=2048, heads=16, most=4096):
        import torch
        self.torch, self.width, self.heads = torch, width, heads

        def normal(*shape):
            return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) * 0.02
        self.embedding = normal(32000, width)
        self.layers = [(normal(3 * width, width), normal(width, width), normal(3 * width, width),
                        normal(width, 3 * width), normal(1, heads, most, width // heads),
                        normal(1, heads, most, width // heads)) for _ in range(layers)]
        self.index = torch.arange(most, device="cuda")
        self.token = torch.zeros(1, 1, dtype=torch.long, device="cuda")
        self.position = torch.zeros(1, dtype=torch.long, device="cuda")

    def forward(self, tokens, position, mask):
        """Store the next token. mask: of the cache; None: the tokens see those before them"""
        f, n = self.torch.nn.functional, tokens.shape[1]
        x = self.embedding[tokens]
        for qkv, out, up, down, keys, values in self.layers:
            q, k, v = f.linear(f.layer_norm(x, (self.width,)), qkv).view(1, n, 3, self.heads, -1).permute(
                2, 0, 3, 1, 4)
            keys.index_copy_(2, position, k)
            values.index_copy_(2, position, v)
            y = (f.scaled_dot_product_attention(q, k, v, is_causal=True) if mask is None else
                 f.scaled_dot_product_attention(q, keys, values, attn_mask=mask))
            x = x + f.linear(y.transpose(1, 2).reshape(1, n, -1), out)
            x = x + f.linear(f.gelu(f.linear(f.layer_norm(x, (self.width,)), up)), down)
        self.token.copy_(f.linear(x[:, -1:], self.embedding).argmax(-1))

    def prefill(self, n):
        with self.torch.no_grad():
            self.forward(self.torch.randint(0, 32000, (1, n), device="cuda"), self.index[:n], None)
        self.position.fill_(n)

    def decode(self):
        with self.torch.no_grad():
            self.forward(self.token, self.position, (self.index <= self.position)[None, None, None, :])
            self.position.add_(1)

    def capture(self):
        """Return decode() as a CUDA graph."""
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.decode()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.decode()
        return graph


def llm_graphs(clock):
    """a language model with a static cache, decode as a CUDA graph: one minibatch per prompt or token"""
    import random
    model = Decoder()
    model.prefill(100)
    graph = model.capture()
    while True:
        model.prefill(int(2 ** random.uniform(4, 11.7)))
        model.token.item()
        clock.end("prefill")
        for _ in range(random.randint(8, 120)):
            graph.replay()
            model.token.item()
            clock.end("decode")


def actor_learner(clock):
    """reinforcement learning: 64 steps of an actor, then 8 minibatches of its learner"""
    import torch
    layers = [layer for _ in range(8) for layer in (torch.nn.Linear(2048, 2048), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(2048, 64)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    while True:
        for _ in range(64):
            with torch.no_grad():
                model(torch.randn(64, 2048, device="cuda")).argmax(1).cpu()
            time.sleep(0.0005)      # the environment
            clock.end("actor")
        for _ in range(8):
            loss = model(torch.randn(8192, 2048, device="cuda")).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss.item()
            clock.end("learner")


def pytorch_moe(clock):
    """Mixtral of 4 layers, 8 experts each, clip_grad_norm_(), loss.item() in each step"""
    import torch
    from transformers import MixtralConfig, MixtralForCausalLM
    model = MixtralForCausalLM(MixtralConfig(hidden_size=512, intermediate_size=1024, num_hidden_layers=4,
                                             num_attention_heads=8, num_key_value_heads=8,
                                             vocab_size=8000)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    while True:
        x = torch.randint(0, 8000, (4, 256)).cuda()
        loss = model(x, labels=x).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        clock.end()


def detector():
    import torchvision
    return torchvision.models.detection.fasterrcnn_resnet50_fpn(
        weights=None, weights_backbone=None, num_classes=21, min_size=320, max_size=512).cuda()


def pytorch_detection(clock):
    """Faster R-CNN training, 4 images of different numbers of objects, loss.item() in each step"""
    import random
    import torch
    model = detector().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    while True:
        images, targets = [], []
        for _ in range(4):
            images.append(torch.rand(3, 300, 400).cuda())
            n = random.randint(1, 8)
            low = torch.rand(n, 2) * 200
            targets.append({"boxes": torch.cat([low, low + 20 + torch.rand(n, 2) * 80], 1).cuda(),
                            "labels": torch.randint(1, 21, (n,)).cuda()})
        loss = sum(model(images, targets).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
        clock.end()


def pytorch_detection_inference(clock):
    """Faster R-CNN inference, one image at a time, results to the CPU"""
    import torch
    model = detector().eval()
    with torch.no_grad():
        while True:
            for result in model([torch.rand(3, 300, 400).cuda()])[0].values():
                result.cpu()
            clock.end()


def pytorch_lstm(clock):
    """LSTM, packed sequences, clip_grad_norm_(), loss.item() in each step"""
    import torch
    from torch.nn.utils import rnn
    lstm = torch.nn.LSTM(128, 512, 2, batch_first=True).cuda()
    head = torch.nn.Linear(512, 1000).cuda()
    parameters = [*lstm.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters)
    while True:
        lengths, x = torch.randint(10, 100, (32,)).cuda(), torch.randn(32, 100, 128).cuda()
        packed = rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        loss = head(rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)[0]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        loss.item()
        clock.end()


def pytorch_vit(clock):
    """ViT, GradScaler, copies of input that wait, loss.item() in every tenth step"""
    import timm
    import torch
    model = timm.create_model("vit_small_patch16_224").cuda()
    optimizer, scaler = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler("cuda")
    x, y, steps = torch.randn(48, 3, 224, 224), torch.randint(0, 1000, (48,)), 0
    while True:
        with torch.autocast("cuda", torch.float16):
            loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        steps += 1
        if steps % 10 == 0:
            loss.item()
        clock.end()


def pytorch_slow_input(clock):
    """ResNet-50; the input of every fourth step takes 30 ms longer"""
    import torch
    model, optimizer = resnet()
    steps = 0
    while True:
        steps += 1
        if steps % 4 == 0:
            time.sleep(0.03)
        loss = model(torch.randn(8, 3, 224, 224).cuda()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
        clock.end()


def jax(clock):
    """ten dense layers in JAX, float(loss) in each step"""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax as j
    import jax.numpy as np
    import numpy
    sizes = [2048] + [4096] * 9 + [10]
    weights = [j.random.normal(j.random.PRNGKey(i), (sizes[i], sizes[i + 1])) * 0.02 for i in range(10)]

    def loss(weights, x, y):
        for w in weights[:-1]:
            x = np.maximum(x @ w, 0)
        return -np.mean(j.nn.log_softmax(x @ weights[-1])[np.arange(y.shape[0]), y])

    @j.jit
    def step(weights, x, y):
        value, gradient = j.value_and_grad(loss)(weights, x, y)
        return [w - 1e-3 * g for w, g in zip(weights, gradient)], value
    x, y = numpy.random.randn(8192, 2048).astype("float32"), numpy.random.randint(0, 10, 8192)
    while True:
        weights, value = step(weights, x, y)
        float(value)
        clock.end()


def cupy(clock):
    """two products of matrices, then asnumpy() of a row"""
    import cupy as cp
    a = cp.random.rand(8192, 8192, dtype=cp.float32)
    while True:
        b = cp.tanh(a @ cp.tanh(a @ a))
        cp.asnumpy(b[0])
        clock.end()
        time.sleep(0.002)


PROGRAMS = {f.__name__.replace("_", "-"): f for f in (
    pytorch_dataloader, pytorch_fp16, pytorch_gpt2, pytorch_evaluation, pytorch_compile, pytorch_pipelined,
    pytorch_moe, pytorch_detection, pytorch_detection_inference, pytorch_lstm, pytorch_vit,
    pytorch_slow_input, transformers_assisted, transformers_generate, llm_batching, transformers_trainer,
    llm_graphs, actor_learner, jax, cupy)}


class Options(ctypes.Structure):
    """struct jetwatt_probe_opts"""
    _fields_ = [("tgid", ctypes.c_uint32), ("children", ctypes.c_uint32), ("cgroup", ctypes.c_uint64),
                ("ring_kib", ctypes.c_uint32), ("backends", ctypes.c_uint32),
                ("cgroup_path", ctypes.c_char_p), ("mark_fd", ctypes.c_int),
                ("prompt", ctypes.c_uint32), ("count", ctypes.c_uint32)]


class Sync(ctypes.Structure):
    """struct jetwatt_sync"""
    _fields_ = [("enter_ns", ctypes.c_uint64), ("exit_ns", ctypes.c_uint64), ("cgroup", ctypes.c_uint64),
                ("tgid", ctypes.c_uint32), ("tid", ctypes.c_uint32), ("call", ctypes.c_uint32),
                ("ret", ctypes.c_int32), ("launch_ns", ctypes.c_uint64), ("launches", ctypes.c_uint32),
                ("lost", ctypes.c_uint32)]


def probe(command):
    """Run a command under the probe. Return: its waits, as copies of struct jetwatt_sync."""
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
    lib = ctypes.CDLL(os.path.join(top, "build/libjetwatt.so.1"))
    function = ctypes.CFUNCTYPE(None, ctypes.POINTER(Sync), ctypes.c_void_p)
    lib.jetwatt_probe_error.restype = ctypes.c_char_p
    lib.jetwatt_probe_lost.restype = ctypes.c_uint64
    waits, handle = [], ctypes.c_void_p()
    add = function(lambda s, _: waits.append(Sync.from_buffer_copy(s.contents)))
    go_read, go_write = os.pipe()
    child = subprocess.Popen(["sh", "-c", "read _ <&%d; exec \"$@\"" % go_read, "sh", *command],
                             pass_fds=[go_read])
    options = Options(tgid=child.pid, children=1, backends=1)
    if lib.jetwatt_probe_open(ctypes.byref(handle), ctypes.byref(options), add, None):
        child.kill()
        sys.exit("record: " + lib.jetwatt_probe_error().decode())
    os.write(go_write, b"\n")
    while child.poll() is None:
        time.sleep(0.02)
        lib.jetwatt_probe_dispatch(handle)
    time.sleep(0.1)
    lib.jetwatt_probe_dispatch(handle)
    lib.jetwatt_probe_flush(handle)
    if lib.jetwatt_probe_lost(handle):
        sys.exit("record: waits were lost")
    lib.jetwatt_probe_close(handle)
    return [w for w in waits if w.tgid == child.pid]


def record(directory, name):
    stamps, path = os.path.join(directory, "times"), os.path.join(directory, name)
    waits = probe([sys.executable, os.path.abspath(__file__), "--run", name, stamps])
    ends = []
    if os.path.exists(stamps):
        with open(stamps, encoding="ascii") as f:
            ends = [(int(line.split(" ")[0]), line.rstrip("\n").split(" ")[1]) for line in f]
        os.unlink(stamps)
    if len(ends) < 2:
        sys.exit("record: %s has not finished two minibatches" % name)
    first, last, tids = ends[0][0], ends[-1][0], {}
    base = first - 2000000
    lines = [(t, ("end %d %s" % ((t - base) // 1000, kind)).rstrip()) for t, kind in ends]
    for w in waits:
        if w.enter_ns >= base and w.exit_ns <= last + 3000000:
            lines.append((w.exit_ns, "%d %d %d %s %d %d" % (
                (w.enter_ns - base) // 1000, (w.exit_ns - w.enter_ns) // 1000,
                tids.setdefault(w.tid, len(tids) + 1), CALLS[w.call], w.launches,
                max(0, w.launch_ns - base) // 1000)))
    with open(path, "w", encoding="ascii") as f:
        f.write("# SPDX-License-Identifier: GPL-2.0-only\n# %s\n" % PROGRAMS[name].__doc__)
        f.writelines(text + "\n" for _, text in sorted(lines))
    print("%s: %d waits, %d minibatches" % (name, len(lines) - len(ends), len(ends) - 1))


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--run":
        clock = Clock(sys.argv[3])
        try:
            PROGRAMS[sys.argv[2]](clock)
        except Finished:
            pass
        clock.write()
        # Exit without waiting for threads that the frameworks have started.
        os._exit(0)
    names = sys.argv[2:] or list(PROGRAMS)
    if len(sys.argv) < 2 or not set(names) <= set(PROGRAMS):
        sys.exit("usage: record.py DIRECTORY [PROGRAM]...\nprograms: " + " ".join(PROGRAMS))
    os.makedirs(sys.argv[1], exist_ok=True)
    for name in names:
        record(sys.argv[1], name)


if __name__ == "__main__":
    main()
